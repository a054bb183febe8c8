"""What a whole cluster has of other engines: their policies and their reports, found among all of
its objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from celadon.cli.audit.audit_blocks import AnyPiece, Block
from celadon.cli.reading.documents import Document, DocumentReader, Problem
from celadon.kube import JsonObject
from celadon.kube.well_known_values import DEFINITION_KIND

ENGINES: Final = {
    "kyverno.io": "Kyverno",
    "policies.kyverno.io": "Kyverno",
    "config.gatekeeper.sh": "Gatekeeper",
    "constraints.gatekeeper.sh": "Gatekeeper",
    "expansion.gatekeeper.sh": "Gatekeeper",
    "externaldata.gatekeeper.sh": "Gatekeeper",
    "mutations.gatekeeper.sh": "Gatekeeper",
    "templates.gatekeeper.sh": "Gatekeeper",
}
"""The groups with policies, or parts of them, and whose they are."""
REPORT_GROUPS: Final = frozenset({"openreports.io", "wgpolicyk8s.io"})
"""The groups of reports of what exists, which Kyverno writes."""
_WORDS: Final = tuple(
    word.encode() for word in ("kyverno.io", "gatekeeper.sh", DEFINITION_KIND.kind, *REPORT_GROUPS)
)


def is_wanted(group: str, kind: str) -> bool:
    """Return whether objects of a kind are policies, reports, or definitions."""
    return group in ENGINES or group in REPORT_GROUPS or (group, kind) == DEFINITION_KIND


def group_and_kind(value: JsonObject) -> tuple[str, str]:
    """Return the group of an object, empty for the core group, and its kind."""
    group, slash, _ = str(value.get("apiVersion")).rpartition("/")
    return group if slash else "", str(value.get("kind"))


def wanted_objects(blocks: Iterable[Block]) -> Iterator[Document | Problem]:
    """The objects of dumps that are wanted. Only texts that mention an engine are read; what is
    wrong with others is said when they are judged."""
    reader = DocumentReader()
    for block in blocks:
        if not block.mentions(_WORDS):
            continue
        for piece in block.pieces():
            if not isinstance(piece, Problem) and _may_be(piece):
                for found in piece.documents(reader):
                    if isinstance(found, Document) and is_wanted(*found.group_kind):
                        yield found


def _may_be(piece: AnyPiece) -> bool:
    head = piece.head()
    if head is None:
        return not piece.text or any(word in piece.text for word in _WORDS)
    value = {"apiVersion": head.api_version, "kind": head.kind}
    return head.kind.endswith("List") or is_wanted(*group_and_kind(value))
