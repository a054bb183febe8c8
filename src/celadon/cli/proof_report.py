"""What `celadon prove` says of policies and definitions, as one value that every output format is
made from, and what a folder of earlier answers keeps of it; and the parts that answers of the
prover about endpoints have in common, those of `celadon diff` and those about claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from celadon.admission import Operation
from celadon.cli.check.check_report import Place
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Document, Problem
from celadon.kube import Json, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.prove import Answer, Example
from celadon.records import dataclass

VALIDATION: Final = "validation"
CONDITION: Final = "condition"
PART: Final = "part"
RULE: Final = "rule"
"""What is asked about: validations, match conditions and variables of policies, and their parts;
and rules of definitions."""

UNDECIDED: Final = "not decided"
OPEN: Final = "no example found"
"""Up to a bound, where none at all would be a fault."""
PROVED: Final = (Answer.NO, Answer.BOUNDED)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that is found, proved or not decided."""

    title: str
    text: str = ""
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class ProofExample:
    """An object that shows a fault, and what it is: `before` an update, say. The rest is the
    request that it is in, as far as that is known: `around` are the objects that have to be there.
    """

    manifest: JsonObject
    title: str = ""
    operation: str = Operation.CREATE.value
    old_manifest: JsonObject | None = None
    around: tuple[JsonObject, ...] = ()
    user: str = ""
    groups: tuple[str, ...] = ()


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

    @property
    def is_told(self) -> bool:
        """Return whether something is found or not decided, or would be found if a bound were
        none."""
        is_open = any(remark.title == OPEN for remark in self.remarks)
        return self.is_finding or self.is_undecided or is_open

    def placed(self, document: Document) -> ProofItem:
        """Return the item with its file."""
        return replace(self, place=Place(document.file, document.line(self.path)))


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Everything, in the order of the files."""

    items: tuple[ProofItem, ...] = ()
    problems: tuple[Problem, ...] = ()

    def of(self, sort: str) -> list[ProofItem]:
        """Return what is said of things of one sort."""
        return [item for item in self.items if item.sort == sort]

    @property
    def exit(self) -> Exit:
        """Return the exit code: that of what was not read goes before that of a finding; what is
        not decided is none."""
        if self.problems:
            return Exit.USAGE
        return Exit.DENIED if any(item.is_finding for item in self.items) else Exit.OK


# --- Answers about endpoints -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Against:
    """Something that speaks against the request. `place` is where it is written."""

    policy: str
    binding: str
    field: str
    place: Place
    message: str
    param: str = ""
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class SideVerdict:
    """A set of policies says this of a request: `denied`, `warned`, `audited` or `admitted`."""

    verdict: str
    against: tuple[Against, ...] = ()


@dataclass(frozen=True, slots=True)
class ExampleRequest:
    """A request that shows something. The manifests have no more than it takes; `around` are the
    objects that have to be there. `user` is who sends it, if that matters."""

    manifest: JsonObject | None = None
    old_manifest: JsonObject | None = None
    around: tuple[JsonObject, ...] = ()
    user: str = ""
    groups: tuple[str, ...] = ()
    remark: str = ""

    @classmethod
    def of(cls, example: Example) -> ExampleRequest:
        """Return what is reported of an example of the prover."""
        user = example.request.user if example.is_about_user else None
        complaint = example.complaint
        return cls(
            example.manifest,
            example.old_manifest,
            example.around,
            user.name if user else "",
            user.groups if user else (),
            f"refused for another reason, too: {complaint}" if complaint else "",
        )


@dataclass(frozen=True, slots=True)
class Reason:
    """Says for which reason something is not decided, at this place."""

    message: str
    place: Place = Place()


# --- Kept answers ------------------------------------------------------------
#
# What `AnswerCache` keeps of a document: the items of the report.

_FIELDS: Final = {
    "sort": str,
    "subject": str,
    "field": str,
    "path": list,
    "remarks": list,
    "data": dict,
    "is_finding": bool,
    "examples": list,
}


def kept_items(value: Json) -> list[ProofItem] | None:
    """Return the items that were kept; None for what is none."""
    try:
        return [_item(item) for item in value]  # type: ignore[union-attr, arg-type]
    except (TypeError, KeyError):
        return None


def _item(value: JsonDict) -> ProofItem:
    """Read an item. Raises TypeError or KeyError for what is no item."""
    for name, kind in _FIELDS.items():
        if not isinstance(value[name], kind):
            raise TypeError(name)
    if not all(isinstance(step, str | int) for step in value["path"]):
        raise TypeError("path")
    return ProofItem(
        value["sort"],
        value["subject"],
        value["field"],
        tuple(value["path"]),
        tuple(
            Remark(str(remark["title"]), str(remark["text"]), bool(remark["is_fault"]))
            for remark in value["remarks"]
        ),
        value["data"],
        value["is_finding"],
        examples=tuple(
            ProofExample(
                dict(example["manifest"]),
                str(example["title"]),
                str(example["operation"]),
                example["old_manifest"],
                tuple(example["around"]),
                str(example["user"]),
                tuple(example["groups"]),
            )
            for example in value["examples"]
        ),
    )
