"""The simple rules for fields of the sources in `data/`: what the pack `rules` is made of.

`src/celadon/kube/validation/field_checks.py` explains them. In the pack, what is `immutable` stands
with the value that counts for an absent field: an empty text where Go has no pointer, else null.
"""

from __future__ import annotations

from typing import Any, Final

from message_sources import message_name
from pack_sources import Sources

Json = Any

_INNER: Final = ("in", "each")
"""Rules that ask for those of another type."""


def rule_pack(sources: Sources) -> dict[str, Json]:
    """By type, `rules` and `immutable` of those that have any."""
    pack = {}
    for package, entries in sources["schemas"].items():
        for name, entry in entries.items():
            rules: dict[str, Json] = {}
            if "rules" in entry:
                rules["rules"] = [_complete(rule, entry["fields"]) for rule in entry["rules"]]
            if "immutable" in entry:
                rules["immutable"] = {field: _zero(entry, field) for field in entry["immutable"]}
            if rules:
                pack[message_name(f"{package}.{name}")] = rules
    return dict(sorted(pack.items()))


def _complete(rule: Json, fields: Json) -> Json:
    """A rule; one about the inside of a field ends with the type of that."""
    if rule[0] not in _INNER:
        return rule
    node = fields[rule[1].rstrip("?")]
    return [*rule, message_name(node.get("items", node)["ref"])]


def _zero(entry: Json, field: str) -> Json:
    node = entry["fields"][field]
    type_ = node if isinstance(node, str) else node.get("type")
    return "" if type_ == "string" and field not in entry.get("ptr", ()) else None
