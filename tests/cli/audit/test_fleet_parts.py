"""Parts of a source together are the source, wherever it is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cli.audit import fleet_parts
from celadon.cli.audit.audit_blocks import ReadObject
from celadon.cli.audit.audit_inputs import LookupKinds, given_inputs
from celadon.cli.audit.fleet_parts import DumpPart, part_blocks, surveyed_inputs
from celadon.cli.reading.documents import DocumentReader, Problem
from tests.cli.audit.dumps import FORMS, packed
from tests.cli.audit.fleets import config_map
from tests.examples import examples

NOTHING = LookupKinds(frozenset(), {}, namespaces=False)
MARK = b"\xef\xbb\xbf"


def seen(path: Path) -> list[tuple[str, int, str]]:
    """File, line and name of all objects, part by part."""
    inputs = given_inputs([str(path)])
    _, parts = surveyed_inputs(inputs, NOTHING)
    found = []
    for part in parts:
        assert isinstance(part, DumpPart)
        for block in part_blocks(inputs, part):
            for piece in block.pieces():
                assert not isinstance(piece, Problem), piece
                for one in piece.objects(DocumentReader()):
                    assert isinstance(one, ReadObject), one
                    place = one.place
                    found.append((place.file, place.line, one.value["metadata"]["name"]))
    return found


@settings(max_examples=examples(40), deadline=None)
@given(
    sizes=st.lists(st.integers(0, 300), max_size=60),
    part=st.integers(1, 4000),
    chunk=st.integers(400, 2000),
    mark=st.booleans(),
    last=st.booleans(),
)
def test_lines_anywhere(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    part: int,
    chunk: int,
    mark: bool,
    last: bool,
) -> None:
    path = tmp_path_factory.mktemp("parts") / "d.jsonl"
    lines = FORMS["json lines"]([config_map(f"c{n}", "x" * size) for n, size in enumerate(sizes)])
    path.write_bytes((MARK if mark else b"") + (lines if last else lines.rstrip(b"\n")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fleet_parts, "PART_BYTES", part)
        patch.setattr("celadon.cli.audit.audit_blocks.CHUNK", chunk)
        patch.setattr("celadon.cli.audit.audit_blocks._PEEKED", 64)
        patch.setattr("celadon.cli.audit.audit_inputs._WHOLE", 0)
        found = seen(path)
    assert found == [(str(path), n + 1, f"c{n}") for n in range(len(sizes))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pack", [False, True])
def test_other_forms_are_one_part(tmp_path: Path, form: str, pack: bool) -> None:
    data = FORMS[form]([config_map("a"), config_map("b")])
    path = tmp_path / ("d.json.gz" if pack else "d.json")
    path.write_bytes(packed(data) if pack else data)
    assert [name for _, _, name in seen(path)] == ["a", "b"]
