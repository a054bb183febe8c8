"""Paths into objects, and the errors that validation reports about the fields they name.

A rendered error is `field: body`, the body `type[: value][: detail]`. As k8s.io/apimachinery
`pkg/util/validation/field`. Read `FieldPath`, then `FieldError` with its constructors (one per kind
of error), then `aggregate`.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from celadon.kube.go.go_json import json_with_raw
from celadon.kube.go.go_text import ADDRESS, GoValue, go_syntax, quote
from celadon.kube.releases import is_since, wording

if TYPE_CHECKING:
    from celadon.cel import Issue


class MapKey(str):
    """The key of a map, as a step: written `[key]`, where a field is `.name`."""

    __slots__ = ()


class SpelledStep(str):
    """A step that upstream writes in a way of its own: `text`, whatever stands before it."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, name: str, text: str) -> SpelledStep:
        step = super().__new__(cls, name)
        step.text = text
        return step


Step: TypeAlias = str | int
"""A field, a `MapKey`, a `SpelledStep`, or the index of an item. All texts are what stands in the
object, so steps lead through it as they are."""

_new: Final = object.__new__


# House rule 9: not frozen, though nobody changes one. Validation makes a path for every field that
# it looks at, and a frozen one takes twice as long to make (2.7 µs, not 1.5).
@dataclass(slots=True, init=False, unsafe_hash=True)
class FieldPath:
    """Holds a path such as `spec.containers[0].env[NAME]` as steps: `FieldPath("spec",
    "containers", 0)`.

    Text is made where somebody reads it; whoever wants to know the place walks the steps. Paths
    that lead to the same place are equal, however they are written.
    """

    steps: tuple[Step, ...]

    def __init__(self, *steps: Step) -> None:
        self.steps = steps

    def child(self, *names: str) -> FieldPath:
        """Return the field of that name; with several, one inside the other."""
        path = _new(FieldPath)  # a third of what the constructor takes, a hundred times a request
        path.steps = self.steps + names
        return path

    def index(self, position: int) -> FieldPath:
        """Return the item of a list."""
        path = _new(FieldPath)
        path.steps = (*self.steps, position)
        return path

    def key(self, key: str) -> FieldPath:
        """Return the value of a map."""
        return FieldPath(*self.steps, MapKey(key))

    def join(self, below: FieldPath) -> FieldPath:
        """Return a path that starts where this one ends."""
        return FieldPath(*self.steps, *below.steps)

    @property
    def text(self) -> str:
        """Return the path as text, empty for the object itself."""
        written = "".join(map(_written, self.steps))
        return written[1:] if self.steps and _is_name(self.steps[0]) else written

    def __str__(self) -> str:
        """Return the path as `text` does; the empty path prints `<nil>`, as Go's nil path does."""
        return self.text if self.steps else "<nil>"


def _is_name(step: Step) -> bool:
    """Return whether a step is written after a dot; Go writes a field without a name as an item."""
    return step.__class__ is str and step != ""


def _written(step: Step) -> str:
    if _is_name(step):
        return f".{step}"
    return step.text if isinstance(step, SpelledStep) else f"[{step}]"


ROOT: Final = FieldPath()


class ErrorType(enum.Enum):
    """Names the kinds of field errors; the value is what `causes[].reason` carries."""

    NOT_FOUND = "FieldValueNotFound"
    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_SHORT = "FieldValueTooShort"
    TOO_MANY = "FieldValueTooMany"
    TYPE_INVALID = "FieldValueTypeInvalid"
    INTERNAL = "InternalError"


_PREFIXES: Final = {
    ErrorType.NOT_FOUND: "Not found",
    ErrorType.REQUIRED: "Required value",
    ErrorType.DUPLICATE: "Duplicate value",
    ErrorType.INVALID: "Invalid value",
    ErrorType.NOT_SUPPORTED: "Unsupported value",
    ErrorType.FORBIDDEN: "Forbidden",
    ErrorType.TOO_LONG: "Too long",
    ErrorType.TOO_SHORT: "Too short",
    ErrorType.TOO_MANY: "Too many",
    ErrorType.TYPE_INVALID: "Invalid value",
    ErrorType.INTERNAL: "Internal error",
}
_VALUELESS: Final = frozenset(
    {
        ErrorType.REQUIRED,
        ErrorType.FORBIDDEN,
        ErrorType.TOO_LONG,
        ErrorType.TOO_SHORT,
        ErrorType.INTERNAL,
    }
)


class NamedText(str):
    """Marks a string whose Go type has a name of its own (an enum, a UID): printed as JSON, not
    `%q`."""

    __slots__ = ()


class OmittedValue:
    """The class of `OMITTED`, the bad value that is not printed."""

    __slots__ = ()


OMITTED: Final = OmittedValue()


def value_text(value: object) -> str:
    """Return a bad value as an error prints it. None is a nil list or pointer: `null`.

    Texts, numbers and booleans are plain; the rest is JSON, and before 1.34 Go's own syntax.
    """
    if isinstance(value, GoValue):
        return json_with_raw(value.value) if is_since("1.34") else value.go_syntax
    if value.__class__ is str:
        return quote(str(value))
    if value.__class__ is bool:
        return "true" if value else "false"
    if isinstance(value, float):
        # late: few bad values are doubles, and the names of Kubernetes need no language.
        from celadon.cel.value_functions import text

        return text.go_float(value)
    if value.__class__ is int or is_since("1.34"):
        return json_with_raw(value)
    return '"null"' if value is None else go_syntax(value, _usual_type(value))


def _usual_type(value: object) -> str:
    """Return the type of a list or a map of texts, which most are that no type comes with."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "[]string"
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return "map[string]string"
    return ""


@dataclass(frozen=True, slots=True)
class FieldError:
    """Holds one complaint about one field. Build it with the functions below.

    `issues` are what the compiler said, where the field is an expression that does not compile;
    their offsets count in the text of the field. `gate` is the feature gate without which nobody
    complains (`!Gate`: with which; a blank between several), empty for what is always wrong.
    """

    type: ErrorType
    path: FieldPath
    value: object = OMITTED
    detail: str = ""
    issues: tuple[Issue, ...] = ()
    gate: str = ""

    @property
    def field(self) -> str:
        """Return the path as text, `<nil>` for errors about nothing in particular."""
        return str(self.path)

    @property
    def body(self) -> str:
        """Return the text without the field, as in `causes[].message`."""
        body = _PREFIXES[self.type]
        if self.type not in _VALUELESS and not isinstance(self.value, OmittedValue):
            body = f"{body}: {value_text(self.value)}"
        return f"{body}: {self.detail}" if self.detail else body

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def required(path: FieldPath, detail: str = "") -> FieldError:
    """Return the error about a field that is absent or empty."""
    return FieldError(ErrorType.REQUIRED, path, OMITTED, detail)


def forbidden(path: FieldPath, detail: str) -> FieldError:
    """Return the error about a field that may not be set here."""
    return FieldError(ErrorType.FORBIDDEN, path, OMITTED, detail)


def invalid(path: FieldPath, value: object, detail: str) -> FieldError:
    """Return the error for a value that breaks the rule in `detail`; it is shown as Go prints it
    (`value_text`)."""
    return FieldError(ErrorType.INVALID, path, value, detail)


def type_invalid(path: FieldPath, value: object, detail: str) -> FieldError:
    """Return the error for a value of the wrong JSON type; `value` is what the text shows for
    it."""
    return FieldError(ErrorType.TYPE_INVALID, path, value, detail)


def not_supported(path: FieldPath, value: object, supported: Iterable[str]) -> FieldError:
    """`supported` in the order it is to be printed; none at all leaves the detail out."""
    return FieldError(ErrorType.NOT_SUPPORTED, path, value, supported_values(supported))


def supported_values(supported: Iterable[str]) -> str:
    """Return the detail of an error about a value that is none of these."""
    listed = ", ".join(quote(choice) for choice in supported)
    return f"supported values: {listed}" if listed else ""


def duplicate(path: FieldPath, value: object) -> FieldError:
    """Return the error about a value that has to be unique and occurs again."""
    return FieldError(ErrorType.DUPLICATE, path, value)


def not_found(path: FieldPath, value: object) -> FieldError:
    """Return the error about a reference to something that is not there."""
    return FieldError(ErrorType.NOT_FOUND, path, value)


def too_long(path: FieldPath, limit: int, *, is_bare: bool = False) -> FieldError:
    """`limit` in bytes of UTF-8; the value is not shown. `is_bare` is for the few of whose limits
    releases before 1.32 did not say what they count."""
    limits = _BARE_LIMIT if is_bare else _LIMIT_OF_BYTES
    detail = limits.text.format(_counted(limit, "byte"), limit)
    if limit < 0 and (is_bare or is_since("1.32")):
        detail = "value is too long"
    return FieldError(ErrorType.TOO_LONG, path, OMITTED, detail)


def too_many(path: FieldPath, count: int, limit: int) -> FieldError:
    """Return the error about a list or map of `count` members where `limit` are allowed."""
    detail = f"must have at most {_counted(limit, 'item')}"
    return FieldError(
        ErrorType.TOO_MANY, path, count, detail if limit >= 0 else "has too many items"
    )


def internal(path: FieldPath, detail: str) -> FieldError:
    """Return the error for a failure of the server's while it validated."""
    return FieldError(ErrorType.INTERNAL, path, OMITTED, detail)


_BARE_LIMIT: Final = wording("may not be more than {0}", v1_32="may not be longer than {1}")
_LIMIT_OF_BYTES: Final = wording("may not be more than {}", v1_32="must have at most {}")


def _counted(count: int, word: str) -> str:
    """Return a count with its noun. Before 1.34, the noun was always in the plural."""
    return f"{count} {word}" if count == 1 and is_since("1.34") else f"{count} {word}s"


def aggregate(errors: Iterable[FieldError]) -> str:
    """Return all errors as one text: repeated ones once, a single one bare, several in brackets.
    Those that show a path are no repetitions: each has an address of its own."""
    unique: dict[str | int, str] = {}
    for number, text in enumerate(map(str, errors)):
        unique[number if _NEW_PATH in text and not is_since("1.34") else text] = text
    texts = list(unique.values())
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


_NEW_PATH: Final = f"(*field.Path)({ADDRESS})"

MOST_ERROR_TEXT: Final = 4 << 20
"""Characters of the errors that one refusal shows."""

FEW_ERRORS: Final = 1_000
"""The texts of fewer errors are not added up, for they are made again where they are shown."""


def as_many_as_fit(errors: Iterable[FieldError], few: int = FEW_ERRORS) -> list[FieldError]:
    """Return the errors that a refusal shows: those up to the one that makes their text longer than
    `MOST_ERROR_TEXT`; all of them, if they are `few`. What follows is not even looked for: each of
    thousands of items may be wrong because of each other."""
    remaining = iter(errors)
    first = list(itertools.islice(remaining, few))
    if len(first) < few:
        return first
    size, result = 0, []
    for error in itertools.chain(first, remaining):
        result.append(error)
        size += len(error.field) + len(error.body)
        if size > MOST_ERROR_TEXT:
            break
    return result
