"""Answers that are kept in a folder, so that what did not change is not asked again.

A file holds what is said of one document, and is called by a hash of all that it depends on: the
document, what is asked and for how long, and the versions of Celadon and of the solver. It is data
and nothing else, and what is no such data counts as absent. What was not decided is asked again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from celadon import __version__, owner_only
from celadon.cli.claims.proof_report import ProofExample, ProofItem, Remark
from celadon.kube import Json
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

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


@dataclass(frozen=True, slots=True)
class ProofCache:
    """The folder; None keeps nothing."""

    folder: Path | None = None

    def key(self, *parts: Json) -> str:
        """The name of what depends on these."""
        import z3

        text = json.dumps([__version__, z3.get_full_version(), *parts], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def get(self, key: str) -> list[ProofItem] | None:
        """What is kept under a name; None if there is nothing that can be used."""
        if self.folder is None:
            return None
        try:
            value = json.loads((self.folder / f"{key}.json").read_bytes())
            return [_item(one) for one in value]
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def put(self, key: str, items: Iterable[ProofItem]) -> None:
        """Keep what was decided. Raises OSError."""
        found = list(items)
        if self.folder is None or any(one.is_undecided for one in found):
            return
        owner_only.make_folder(self.folder)
        text = json.dumps([asdict(one) for one in found], ensure_ascii=False)
        owner_only.write(self.folder / f"{key}.json", text.encode())


def _item(value: JsonDict) -> ProofItem:
    """Raises TypeError or KeyError for what is no item."""
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
            Remark(str(one["title"]), str(one["text"]), bool(one["is_fault"]))
            for one in value["remarks"]
        ),
        value["data"],
        value["is_finding"],
        examples=tuple(
            ProofExample(dict(one["manifest"]), str(one["title"])) for one in value["examples"]
        ),
    )
