"""Random field sets, values and a schema to see them by."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from celadon.kube.fieldmanager.field_sets import FieldSet, field_set
from celadon.kube.fieldmanager.merge_types import made_type
from celadon.kube.schemas import decode_schema

ELEMENTS = ["f:a", "f:b", "f:c", 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"1"', "v:2", "i:0"]
PATHS = st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=4).map(tuple)
SETS: st.SearchStrategy[FieldSet] = st.lists(PATHS, max_size=8).map(lambda some: field_set(*some))

TEXT = {"type": "string"}
ITEM = {"type": "object", "properties": {"name": TEXT, "v": TEXT, "w": {"type": "integer"}}}
TYPE = made_type(
    decode_schema(
        {
            "type": "object",
            "properties": {
                "text": TEXT,
                "labels": {"type": "object", "additionalProperties": TEXT},
                "whole": {
                    "type": "object",
                    "additionalProperties": TEXT,
                    "x-kubernetes-map-type": "atomic",
                },
                "list": {"type": "array", "items": TEXT},
                "set": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
                "items": {
                    "type": "array",
                    "items": ITEM,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
                "struct": ITEM,
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    )
)

NAMES = st.sampled_from("abcd")
MAPS = st.dictionaries(NAMES, NAMES, max_size=3)
ITEMS = st.fixed_dictionaries({"name": NAMES}, optional={"v": NAMES, "w": st.integers(0, 3)})
OPEN = st.dictionaries(NAMES, NAMES | st.booleans() | st.integers(0, 1) | MAPS, max_size=3)

VALUES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "text": NAMES,
        "labels": MAPS,
        "whole": MAPS,
        "list": st.lists(NAMES, max_size=3),
        "set": st.lists(NAMES, max_size=4, unique=True),
        "items": st.lists(ITEMS, max_size=4, unique_by=lambda item: str(item["name"])),
        "struct": ITEMS,
        "open": OPEN,
    },
)
"""Values of `TYPE`."""
