"""What `celadon prove` says of policies and definitions, as one value; every output format is made
from it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from celadon.cli.check.check_report import Place
from celadon.cli.exits import Exit
from celadon.cli.reading.documents import Document, Problem
from celadon.kube import JsonObject
from celadon.records import dataclass

VALIDATION: Final = "validation"
PART: Final = "part"
RULE: Final = "rule"
"""What is asked about: validations and parts of policies, and rules of definitions."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that is found, proved or not decided."""

    title: str
    text: str = ""
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class ProofExample:
    """An object that shows a fault, and what it is: `before` an update, say."""

    manifest: JsonObject
    title: str = ""


@dataclass(frozen=True, slots=True)
class ProofItem:
    """All that is said of one place in a document. `path` leads there; `place` is known once it is
    told in which file. `data` is the same for programs."""

    sort: str
    subject: str
    field: str
    path: tuple[str | int, ...]
    remarks: tuple[Remark, ...]
    data: JsonObject
    is_finding: bool = False
    is_undecided: bool = False
    examples: tuple[ProofExample, ...] = ()
    place: Place = Place()

    def placed(self, document: Document) -> ProofItem:
        """The same, in its file."""
        return replace(self, place=Place(document.file, document.line(self.path)))


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Everything, in the order of the files."""

    items: tuple[ProofItem, ...] = ()
    problems: tuple[Problem, ...] = ()

    def of(self, sort: str) -> list[ProofItem]:
        """What is said of things of one sort."""
        return [one for one in self.items if one.sort == sort]

    @property
    def exit(self) -> Exit:
        """What was not read goes before a finding; what is not decided is none."""
        if self.problems:
            return Exit.USAGE
        return Exit.DENIED if any(one.is_finding for one in self.items) else Exit.OK
