"""What a rule says: a finding, where it is, and how it can be fixed.

A place is a document (its number in the input), the path of a field in it, and, for findings about
a part of an expression, the offset in the field's text. Whoever read the documents knows the files
and lines.
"""

from __future__ import annotations

import enum

from celadon.kube import FieldPath, fieldpath
from celadon.records import dataclass


class Severity(enum.Enum):
    """How bad it is. Only errors fail a run, unless the user wants warnings to fail it, too."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Spot:
    """`offset` counts the characters of the field's text; None is the field as a whole."""

    document: int
    path: FieldPath = fieldpath.ROOT
    offset: int | None = None

    @property
    def field(self) -> str:
        """The path as the API server prints it; empty for the object itself."""
        return self.path.text


@dataclass(frozen=True, slots=True)
class Replacement:
    """The characters from `spot.offset` up to `end` become `text`; `old` is what they are now."""

    spot: Spot
    old: str
    text: str


@dataclass(frozen=True, slots=True)
class Removal:
    """The list item at this field goes."""

    spot: Spot


Fix = Replacement | Removal
"""What `celadon lint --fix` does to a document."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` is that of the rule. The message obeys the house's second law; `help` says what to do.
    `fix` is there when the change is safe: it alters no decision but the one that is wrong."""

    code: str
    spot: Spot
    message: str
    help: str = ""
    severity: Severity = Severity.WARNING
    fix: Fix | None = None
