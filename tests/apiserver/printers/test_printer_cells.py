"""Each form of the language of cells, and that the data use only forms and functions that exist."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.printers.cell_texts import Row
from celadon.apiserver.printers.printer_cells import CALLS, compiled
from celadon.kube.schemas import schema_packs

SINCE = "1970-01-01T00:00:10Z"
OBJECT: dict[str, Any] = {
    "text": "t",
    "empty": "",
    "count": 3,
    "yes": True,
    "no": False,
    "texts": ["a", "b", "c", "d"],
    "nothing": [],
    "map": {"b": "2", "a": "1"},
    "objects": [{"kind": "A", "name": "x"}, {"kind": "B", "name": "y"}],
    "deep": {"er": {"name": "n"}},
    "since": SINCE,
    "spaces": " s ",
    "selector": {"matchLabels": {"k": "v"}},
    "broken": {"matchExpressions": [{"key": "k", "operator": "Odd"}]},
    "amount": "1000m",
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}

ROWS: list[tuple[Any, Any]] = [
    (".text", "t"),
    (".missing", ""),
    (".deep.er.name", "n"),
    (".count", ""),
    ("<none>", "<none>"),
    (["text", ".dotted"], ".dotted"),
    (["number", ".count"], 3),
    (["number", ".missing"], 0),
    (["bool", ".yes"], True),
    (["bool", ".missing"], False),
    (["bool", ".missing", True], True),
    (["bool", ".no", True], False),
    (["value", ".count", "-"], "3"),
    (["value", ".yes", "-"], "True"),
    (["value", ".empty", "-"], ""),
    (["value", ".missing", "-"], "-"),
    (["len", ".texts"], 4),
    (["len", ".texts", ".map", ".missing"], 6),
    (["or", ".empty", "-"], "-"),
    (["or", ".text", "-"], "t"),
    (["if", ".deep", "yes", "no"], "yes"),
    (["if", ".empty", "yes", "no"], "no"),
    (["if", ".nothing", "yes", "no"], "yes"),
    (["concat", ".text", "/", ["number", ".count"]], "t/3"),
    (["join", ",", ".texts"], "a,b,c,d"),
    (["join", ", ", ".objects", ".name"], "x, y"),
    (["join", ",", ["where", ".objects", "kind", "B"], ".name"], "y"),
    (["join", ",", ".missing"], ""),
    (["three", ".texts", ".", "-"], "a,b,c + 1 more..."),
    (["three", ".nothing", ".", "-"], "-"),
    (["first", ".objects", ".name", "-"], "x"),
    (["first", ["where", ".objects", "kind", "C"], ".name", "-"], "-"),
    (["age", ".since"], "90s"),
    (["age", ".missing"], "<unknown>"),
    (["age", ".missing", ""], ""),
    (["age", ".nothing", ""], "<unknown>"),
    (["duration", ".count", "-"], "3s"),
    (["duration", ".missing", "-"], "-"),
    (["labels", ".map"], "a=1,b=2"),
    (["labels", ".missing"], "<none>"),
    (["selector", ".selector"], "k=v"),
    (["selector", ".missing"], "<none>"),
    (["selector", ".broken"], "<error>"),
    (["selector", ".broken", "", "<invalid>"], "<invalid>"),
    (["quantity", ".amount"], "1"),
    (["trim", ".spaces"], "s"),
    (["condition", "Ready", ".status", "?"], "True"),
    (["condition", "Other", ".status", "?"], "?"),
    (["call", "nodeRoles", ".map"], "<none>"),
]


@pytest.mark.parametrize(("cell", "shown"), ROWS, ids=[json.dumps(cell) for cell, _ in ROWS])
def test_forms(cell: Any, shown: Any) -> None:
    assert compiled(cell)(OBJECT, Row(OBJECT, 100.0, {})) == shown


@pytest.mark.parametrize("cell", [["nothing"], [], 3, ["join", ",", ["which", ".a", "b", "c"]]])
def test_other_forms_are_mistakes(cell: Any) -> None:
    with pytest.raises(ValueError, match="cell"):
        compiled(cell)


def test_every_function_is_used_by_the_data() -> None:
    """And the data use no others."""
    used = set()

    def look(cell: Any) -> None:
        if isinstance(cell, list):
            if cell[0] == "call":
                used.add(cell[1])
            for part in cell[1:]:
                look(part)

    for release in ("1.30", "1.33", "1.36"):
        for entry in schema_packs.pack_of("columns", release)["resources"].values():
            for column in entry["columns"]:
                look(column["cell"])
    assert used == set(CALLS)
