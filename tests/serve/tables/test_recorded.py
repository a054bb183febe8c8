"""Every table that a real server answered, against the cells of the objects behind it.

Only rows whose object the scenario has written itself can be compared; the number of them is
counted, so that nothing goes missing silently. Metadata of rows is the store's business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from celadon.serve.tables.table_shapes import TableShape, built_in_shape, custom_shape
from tests.paths import recordings
from tests.serve.tables.recorded_objects import CREATED, Notebook, address

FOLDERS = ("tables", "api", "watch", "policy", "clients")
NOW = 1767225600.0 + 30  # half a minute after CREATED
MASKED = "<masked>"
CONTROLLED = {
    "kube-root-ca.crt": "every namespace gets it from a controller",
    "default": "the service account that every namespace gets from a controller",
}


def files() -> list[Any]:
    found = [one for folder in FOLDERS for one in recordings(folder)]
    return [one for one in found if one.marks or '"Table"' in one.values[0].read_text()]


def tables(wanted: Any) -> Iterator[Mapping[str, Any]]:
    """The tables of an answer, or of the events of a stream."""
    if not isinstance(wanted, dict):
        return
    bodies = [wanted.get("body"), *(one.get("object") for one in wanted.get("events", ()))]
    for body in bodies:
        if isinstance(body, dict) and body.get("kind") == "Table":
            yield body


@pytest.mark.parametrize("path", files())
def test_cells(path: Path) -> None:
    scenario = json.loads(path.read_text())
    notebook = Notebook()
    streams: dict[str, str] = {}
    for item in scenario.get("setup", ()):
        notebook.setup(item)
    compared = 0
    for step in scenario["steps"]:
        wanted = step.get("want") or {}
        if "watch" in step:
            streams[step["as"]] = step["watch"]
        asked = streams.get(step.get("events", ""), step.get("path", ""))
        before = dict(notebook.objects)
        if wanted.get("code", 500) < 300:
            notebook.note(step)
        for table in tables(wanted):
            compared += check(table, asked, step, notebook)
        if "dryRun" in asked:
            notebook.objects = before
    rows = [t["rows"] for step in scenario["steps"] for t in tables(step.get("want"))]
    assert compared or not any(rows)


def shape_of(asked: str, notebook: Notebook) -> TableShape:
    where = address(asked)
    assert where is not None
    if where.gvr in notebook.custom:
        return custom_shape(*notebook.custom[where.gvr])
    return built_in_shape(where.gvr)


def check(
    table: Mapping[str, Any],
    asked: str,
    step: Mapping[str, Any],
    notebook: Notebook,
) -> int:
    """How many rows were compared."""
    shape = shape_of(asked, notebook)
    if table["columnDefinitions"] is not None:
        assert described(list(shape.headers), table) == table["columnDefinitions"]
    where = address(asked)
    assert where is not None
    compared = 0
    names = [header["name"] for header in shape.headers]
    if not table["rows"]:
        assert table["rows"] == (None if shape.null_rows else [])
    for row in table["rows"] or ():
        name = row["cells"][names.index("Name")].removesuffix(" (default)")
        meta = (row["object"] or {}).get("metadata", {})
        key = (where.key("")[0], meta.get("namespace", where.namespace), name)
        versions = notebook.versions(key) if name else [{"metadata": {}}]
        if not versions:
            assert name in CONTROLLED, key
            continue
        if "events" not in step:
            versions = versions[:1]
        rows = [shown(shape, one, names, step) for one in versions]
        assert (row["cells"], row.get("conditions", [])) in rows
        compared += 1
    return compared


def shown(
    shape: TableShape, obj: Mapping[str, Any], names: list[str], step: Mapping[str, Any]
) -> tuple[list[Any], list[Any]]:
    conditions = shape.conditions(obj) if shape.conditions else []
    return masked(names, shape.cells(obj, NOW), step), conditions


def described(headers: list[dict[str, Any]], table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Some recordings leave the descriptions out."""
    with_text = any("description" in one for one in table["columnDefinitions"])
    return [
        one if with_text else {key: one[key] for key in one if key != "description"}
        for one in headers
    ]


def masked(names: list[str], cells: list[Any], step: Mapping[str, Any]) -> list[Any]:
    columns = step.get("maskColumns", ())
    out = [
        MASKED if index < len(names) and names[index] in columns else cell
        for index, cell in enumerate(cells)
    ]
    for pattern in step.get("mask", ()):
        out = [re.sub(pattern, MASKED, one) if isinstance(one, str) else one for one in out]
    return out


def test_the_time_of_creation_is_before_now() -> None:
    assert built_in_shape(address("/api/v1/configmaps").gvr).cells(  # type: ignore[union-attr]
        {"metadata": {"name": "n", "creationTimestamp": CREATED}}, NOW
    ) == ["n", 0, "30s"]
