"""Findings, the results of lint rules: each has a place, a text, perhaps a fix, and the expression
that it is about.

A place is a document (its number in the input), the path of a field in it, and, for findings about
a part of an expression, the offset in the field's text. Whoever read the documents knows the files
and lines.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.admission.registration.decoding import struct_of
from celadon.cel import CheckedAst, Environment, Issue
from celadon.cel.syntax import Ast, Expr, Ident, walk
from celadon.kube import FieldPath, GroupVersionKind, JsonObject, fieldpath
from celadon.kube.go import Document
from celadon.kube.schemas import StrayField, strict_field_errors
from celadon.records import dataclass, replace

# --- Expressions -------------------------------------------------------------
#
# The expressions of a policy or definition, compiled, with the field each of them stands in.


class Role(enum.Enum):
    """The places where expressions are: `RULE` is one of a definition, which has messages, too."""

    CONDITION = enum.auto()
    VARIABLE = enum.auto()
    VALIDATION = enum.auto()
    MESSAGE = enum.auto()
    ANNOTATION = enum.auto()
    MUTATION = enum.auto()
    RULE = enum.auto()


@dataclass(frozen=True)
class PolicyExpression:
    """Holds one expression of a policy, checked. `path` is that of the field. `name` is that of a
    variable or condition; `checked` is None if it does not compile, `tree` (what was checked) if it
    does not parse. `env` is what it was compiled in. `shift` is the white space that was cut off
    before compiling."""

    role: Role
    index: int
    path: FieldPath
    text: str
    env: Environment
    tree: Ast | None
    checked: CheckedAst | None
    name: str = ""
    shift: int = 0


def names_of(expression: PolicyExpression) -> set[str]:
    """Return the names in an expression; none if it does not compile."""
    nodes = [] if expression.checked is None else walk(expression.checked.root)
    return {node.name for node in nodes if node.__class__ is Ident}


class Severity(enum.Enum):
    """Says how bad it is. Only errors fail a run, unless the user wants warnings to fail it,
    too."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class FieldPosition:
    """Names a place in a field. `offset` counts the characters of the field's text; None is the
    field as a whole."""

    document: int
    path: FieldPath = fieldpath.ROOT
    offset: int | None = None

    @property
    def field(self) -> str:
        """Return the path as the API server prints it; empty for the object itself."""
        return self.path.text


@dataclass(frozen=True, slots=True)
class Replacement:
    """Proposes, as a fix, that the characters from `spot.offset` up to `end` become `text`; `old`
    is what they are now."""

    spot: FieldPosition
    old: str
    text: str


@dataclass(frozen=True, slots=True)
class Removal:
    """Proposes, as a fix, to remove the list item at this field."""

    spot: FieldPosition


Fix = Replacement | Removal
"""What `celadon lint --fix` does to a document."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Says what a lint rule has found, and where. `code` is that of the rule. The message obeys the
    house's second law; `help` says what to do. `fix` is there when the change is safe: it alters no
    decision but the one that is wrong."""

    code: str
    spot: FieldPosition
    message: str
    help: str = ""
    severity: Severity = Severity.WARNING
    fix: Fix | None = None


# --- Corrections -------------------------------------------------------------
#
# Misspelt fields, read as what was meant.
#
# A policy with `validation:` for `validations:` has one thing wrong with it, and would get half
# a dozen findings for what follows from that, while what is wrong inside of the field would
# stay unseen. So a field that its kind does not have, but one very much like it, is read as the
# other one. Rules work on the corrected document; findings are about the one that was written.

Steps = tuple[str | int, ...]

_ROUNDS: Final = 10
"""Misspelt fields inside misspelt fields."""


class Renamed(NamedTuple):
    """The field at `steps`, which are those in the corrected document, was written otherwise."""

    steps: Steps
    written: str


class Corrected(NamedTuple):
    """Holds what a document was probably meant to be. `unknown` are all fields that the kind does
    not have, where they were written."""

    document: JsonObject
    unknown: tuple[StrayField, ...]
    renamed: tuple[Renamed, ...]


def corrected(document: JsonObject, kind: GroupVersionKind) -> Corrected:
    """Return what a document of a registered kind was probably meant to be."""
    structure = struct_of(kind.kind, kind.version)
    result: dict[Steps, StrayField] = {}
    renamed: list[Renamed] = []
    for _ in range(_ROUNDS):
        count = len(renamed)
        for error in strict_field_errors(Document(document), structure):
            place = as_written(error.steps, renamed)
            result.setdefault(place, error._replace(steps=place))
            likely = error.likely
            if likely and likely not in _parent(document, error.steps):
                document = _with_name(document, error.steps, likely)
                renamed.append(Renamed((*error.steps[:-1], likely), str(error.steps[-1])))
        if len(renamed) == count:
            break
    return Corrected(document, tuple(result.values()), tuple(renamed))


def as_written(steps: Steps, renamed: Sequence[Renamed]) -> Steps:
    """Return a path in the corrected document as one in the document that was written."""
    for item in reversed(renamed):
        length = len(item.steps)
        if steps[:length] == item.steps:
            steps = (*steps[: length - 1], item.written, *steps[length:])
    return steps


def written_finding(finding: Finding, renamed: Sequence[Renamed]) -> Finding:
    """Return a finding about the corrected document as one about that which was written."""
    if not renamed:
        return finding
    fix = finding.fix
    if isinstance(fix, Replacement | Removal):
        fix = replace(fix, spot=_written_spot(fix.spot, renamed))
    return replace(finding, spot=_written_spot(finding.spot, renamed), fix=fix)


def _written_spot(spot: FieldPosition, renamed: Sequence[Renamed]) -> FieldPosition:
    return replace(spot, path=FieldPath(*as_written(spot.path.steps, renamed)))


def _parent(document: Any, steps: Steps) -> JsonObject:  # noqa: ANN401 - any JSON
    for step in steps[:-1]:
        document = document[step]
    result: JsonObject = document
    return result


def _with_name(value: Any, steps: Steps, name: str) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy in which the field at a path is called otherwise."""
    step, *below = steps
    if not below:
        return {name if key == step else key: item for key, item in value.items()}
    result: Any = dict(value) if isinstance(value, Mapping) else list(value)
    result[step] = _with_name(value[step], tuple(below), name)
    return result


# --- Type mistakes -----------------------------------------------------------
#
# What our type check finds (`kind_typecheck`).


@dataclass(frozen=True, slots=True)
class Mistake:
    """One issue, with the kinds for which it is one."""

    expression: PolicyExpression
    issue: Issue
    node: Expr | None
    kinds: tuple[GroupVersionKind, ...]
