"""The simple rules for fields of the sources in `data/`: what the pack `rules` is made of.

`src/celadon/kube/validation/field_rules.py` explains them. In the pack, what is `immutable` stands
with the value that counts for an absent field: an empty text where Go has no pointer, else null.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from message_sources import message_name
from pack_sources import read

Json = Any


def rule_pack(sources: Path) -> dict[str, Json]:
    """By type, `rules` and `immutable` of those that have any."""
    pack = {}
    for package, entries in read(sources / "schemas"):
        for name, entry in entries.items():
            rules: dict[str, Json] = {}
            if "rules" in entry:
                rules["rules"] = entry["rules"]
            if "immutable" in entry:
                rules["immutable"] = {field: _zero(entry, field) for field in entry["immutable"]}
            if rules:
                pack[message_name(f"{package}.{name}")] = rules
    return dict(sorted(pack.items()))


def _zero(entry: Json, field: str) -> Json:
    node = entry["fields"][field]
    type_ = node if isinstance(node, str) else node.get("type")
    return "" if type_ == "string" and field not in entry.get("ptr", ()) else None
