"""Single values of typed objects: how each JSON value is read, and what is said when it cannot be.

A converter takes a JSON value that is not null and returns the value as Go would write it again. It
raises `Mismatch` for a JSON value of the wrong kind (the struct codecs above add the path while it
passes through them) and `DecodeError` where the text of the error needs no path. Both learn their
`path` on the way.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from celadon.kube.errors import KubeError
from celadon.kube.fieldpath import ROOT, FieldPath, Step
from celadon.kube.go.go_json import NumberText
from celadon.kube.go.go_text import Base64Error, canonical_base64, shown_integer
from celadon.kube.go.go_time import TimeError, canonical_micro_time, canonical_time
from celadon.kube.go.go_types import go_type, owner_path
from celadon.kube.json_types import Json
from celadon.kube.quantity import NULL, QuantityError, note_sent
from celadon.kube.quantity import parse as parse_quantity
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import ZERO_TIME
from celadon.memoization import remembering

Converter = Callable[[Any], Any]


class Dropped:
    """The class of `DROPPED`, what a converter returns for a value that encoding leaves out."""

    __slots__ = ()


DROPPED: Final = Dropped()

INT_RANGES: Final = {"i": (-(2**31), 2**31 - 1), "l": (-(2**63), 2**63 - 1)}
BYTES: Final = "y"
SCALAR_CLASSES: Final[Mapping[str, type]] = {"s": str, "b": bool}
ZEROS: Final = {"s": "", BYTES: "", "b": False, "i": 0, "l": 0, "d": 0}


class DecodeError(KubeError, ValueError):
    """Says that a value does not fit its type; `str()` is what follows `cannot be handled as a K:
    `.

    `path` is where the value stands, in steps from the object that was to be decoded. `alone` is
    the text where values are read one by one, not as parts of a document.
    """

    def __init__(self, text: str, path: FieldPath = ROOT, alone: str = "") -> None:
        super().__init__(text)
        self.path = path
        self.alone = alone or text


class Mismatch(KubeError):
    """A JSON value of the wrong kind, on its way up to where the path is known."""

    def __init__(self, value: object, node: object) -> None:
        super().__init__()
        self.path = ROOT
        self.value = value
        self.node = node
        self.owner = ""
        self.field = ""
        self.struct_path: list[str] = []

    def at(self, owner: str, field: str) -> None:
        """Note the owner of a field; this is called once per struct, innermost first."""
        if not self.owner:
            self.owner, self.field = owner, field
        self.struct_path.insert(0, owner_path(owner, field))

    def leave_reader(self) -> None:
        """Leave a reader; this is called where a type of Go reads its JSON by itself: before 1.35
        (`sigs.k8s.io/json`), messages named the field of such a type, and none below it."""
        if not is_since("1.35"):
            self.struct_path.clear()

    def message(self) -> str:
        """Return what Go says, with the path gathered by `at`, if it passed through a struct."""
        if not self.owner:
            return self.message_alone()
        struct = self.owner.rpartition(".")[2]
        path = ".".join(self.struct_path)
        return self._text(f"struct field {struct}.{path}")

    def message_alone(self) -> str:
        """Return what Go says of the value by itself."""
        return self._text("value")

    def _text(self, place: str) -> str:
        expected = go_type(self.node, self.owner, self.field)
        exact = isinstance(self.node, str) and (self.node in INT_RANGES or self.node == "byte")
        kind = json_kind(self.value, exact=exact)
        return f"json: cannot unmarshal {kind} into Go {place} of type {expected}"


class ReadMismatch(Mismatch):
    """The same of a value that Go's type reads by itself: what it says names no field."""


def locate(error: DecodeError | Mismatch, step: Step) -> None:
    """Note a step; this is called once per field, item and member, innermost first."""
    error.path = FieldPath(step, *error.path.steps)


def json_kind(value: object, *, exact: bool = False) -> str:
    """Return what Go calls a JSON value; `exact` shows the number itself, as for integer fields."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        written = value.text if isinstance(value, NumberText) else value
        return f"number {written}" if exact else "number"
    return "array" if isinstance(value, list) else "object"


def integer(letter: str) -> Converter:
    """Return the converter of integers of the size `letter` (`i`, `l`); a zero stays."""
    low, high = INT_RANGES[letter]

    def convert(value: object) -> Any:
        if value.__class__ is not int or not low <= value <= high:
            raise Mismatch(value, letter)
        return value

    return convert


def nonzero_integer(letter: str) -> Converter:
    """Return the converter of integers for a field that leaves a zero out."""
    low, high = INT_RANGES[letter]

    def convert(value: object) -> Any:
        if value.__class__ is not int or not low <= value <= high:
            raise Mismatch(value, letter)
        return value or DROPPED

    return convert


_EXACT_IN_DOUBLES: Final = 1 << 53


def double(value: object) -> object:
    """Return a double, an integer as one if it is so large that a double is another."""
    if isinstance(value, float):
        return value
    if not isinstance(value, int) or value.__class__ is bool:
        raise Mismatch(value, "d")
    return value if abs(value) <= _EXACT_IN_DOUBLES else shown_integer(float(value))


def bytes_text(value: object) -> object:
    """Base64, as Go writes it again; DecodeError with Go's text for what is none. A list of numbers
    will do as well."""
    if value.__class__ is list:
        return _base64_of_items(value)
    if value.__class__ is not str:
        raise Mismatch(value, BYTES)
    try:
        return canonical_base64(value)
    except Base64Error as error:
        raise DecodeError(str(error), alone=f"error decoding from json: {error}") from None


def _base64_of_items(items: list[Any]) -> str:
    for item in items:
        if item is not None and (item.__class__ is not int or not 0 <= item <= 255):
            raise Mismatch(item, "byte")
    return base64.b64encode(bytes(item or 0 for item in items)).decode()


@remembering(4096)
def _canonical_quantity(text: str) -> str:
    return str(parse_quantity(text))


def quantity(value: object) -> Any:
    """Return it in canonical form; also numbers are read. DecodeError for what is none."""
    text = value if value.__class__ is str else _number_text(value)
    sent = text.strip(" \t\r\n")
    try:
        canonical_quantity = _canonical_quantity(sent)
    except QuantityError as error:
        raise DecodeError(str(error)) from None
    if canonical_quantity != sent:
        note_sent(canonical_quantity, sent)
    return canonical_quantity


def null_quantity() -> str:
    """Return the amount that null is, which Go prints without a format."""
    note_sent("0", NULL)
    return "0"


def _number_text(value: object) -> str:
    """Return the text of a number: a quantity that is no string is read from its JSON text."""
    if value is True or value is False:
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else "{}"


def int_or_string(value: object) -> Json:
    """Integers have 32 bits; strings stay what they are."""
    if value.__class__ is str:
        return value
    low, high = INT_RANGES["i"]
    if value.__class__ is not int or not low <= value <= high:
        raise ReadMismatch(value, "i")
    return value


def time(value: object) -> object:
    """RFC 3339 in seconds and UTC, null for the zero time; DecodeError for what is none."""
    if value.__class__ is not str:
        raise ReadMismatch(value, "s")
    try:
        canonical = canonical_time(value)
    except TimeError as error:
        raise DecodeError(str(error)) from None
    return None if canonical == ZERO_TIME else canonical


def micro_time(value: object) -> object:
    """Return a time in its canonical form, in microseconds; null for the zero time."""
    if value.__class__ is not str:
        raise ReadMismatch(value, "s")
    try:
        canonical = canonical_micro_time(value)
    except TimeError as error:
        raise DecodeError(str(error)) from None
    return None if canonical == f"{ZERO_TIME[:-1]}.000000Z" else canonical


def by_value(convert: Converter) -> Converter:
    """Return the converter of what Go holds without a pointer: null is no value of it."""

    def convert_value(value: object) -> object:
        converted = convert(value)
        return DROPPED if converted is None else converted

    return convert_value


def as_it_is(value: object) -> object:
    """Return the value of a component of any content as it is."""
    return value


def plain(letter: str) -> Converter:
    """Return the converter of texts and booleans (`s`, `b`)."""
    scalar_classes = SCALAR_CLASSES[letter]

    def convert(value: object) -> Any:
        if value.__class__ is not scalar_classes:
            raise Mismatch(value, letter)
        return value

    return convert


def scalar(letter: str) -> Converter:
    """Return the converter for a scalar's letter; a zero stays."""
    if letter in INT_RANGES:
        return integer(letter)
    if letter in SCALAR_CLASSES:
        return plain(letter)
    return double if letter == "d" else bytes_text


def refuse(value: object, node: object) -> NoReturn:
    """Raise for a value that is not of the class its field needs."""
    raise Mismatch(value, node)
