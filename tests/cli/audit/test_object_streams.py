"""Every form of a dump has the same objects, whole and in their places, however it is cut."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cli.audit import audit_blocks, audit_inputs
from celadon.cli.audit.audit_blocks import ReadObject, blocks_of
from celadon.cli.audit.audit_inputs import given_inputs
from celadon.cli.reading.documents import STDIN_CLOSED, DocumentReader, Problem
from tests.cli.audit.dumps import FORMS, Json, kubectl_json, packed, written
from tests.examples import examples

OBJECTS = [
    written("ConfigMap", f"c{n}", data={"a": "x\ny: -\n- z", "b": "é" * n}) for n in range(9)
]


def read(data: bytes, chunk: int = 1 << 19) -> tuple[list[Json], list[int], list[str]]:
    """Objects, their lines, and what is wrong."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(audit_blocks, "CHUNK", chunk)
        patched.setattr(audit_blocks, "_PEEKED", max(chunk, 64))
        blocks = list(blocks_of("dump", io.BytesIO(data), lambda: 0))
    objects, lines, problems = [], [], []
    for block in blocks:
        for piece in [block] if isinstance(block, Problem) else block.pieces():
            if isinstance(piece, Problem):
                problems.append(piece.text())
                continue
            for found in piece.objects(DocumentReader()):
                if isinstance(found, ReadObject):
                    objects.append(found.value)
                    lines.append(found.place.line)
                else:
                    problems.append(found.text())
    return objects, lines, problems


def _files(path: Path, data: bytes) -> list[Any]:
    path.write_bytes(data)
    found = []
    for block in given_inputs([str(path)]).blocks():
        for piece in block.pieces():
            assert not isinstance(piece, Problem), piece
            found += [
                one.value for one in piece.objects(DocumentReader()) if isinstance(one, ReadObject)
            ]
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("is_small", [False, True])
def test_all_forms_of_files(
    form: str, is_packed: bool, is_small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_small:
        monkeypatch.setattr(audit_inputs, "_WHOLE", 0)
    data = FORMS[form](OBJECTS)
    found = _files(tmp_path / "dump.json", packed(data) if is_packed else data)
    assert found == OBJECTS


UNQUOTED = re.compile(r"[-+]?[0-9._]*[eE][-+]?[0-9._]+|[yYnN]")
"""What Go's YAML takes for numbers or booleans and quotes as a text, and PyYAML does not."""
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20).filter(
    lambda text: UNQUOTED.fullmatch(text) is None
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("form", ["json lines", "kubectl json", "kubectl yaml", "raw list"])
@settings(max_examples=examples(25), deadline=None)
@given(values=st.lists(VALUES, min_size=1, max_size=5), chunk=st.integers(64, 400))
def test_wherever_it_is_cut(form: str, values: Sequence[Any], chunk: int) -> None:
    objects = [written("Thing", f"c{n}", spec={"is": one}) for n, one in enumerate(values)]
    found, _, problems = read(FORMS[form](objects), chunk)
    assert problems == []
    assert found == objects


@pytest.mark.parametrize("chunk", [64, 1 << 19])
def test_lines_are_those_of_the_file(chunk: int) -> None:
    assert read(FORMS["json lines"](OBJECTS), chunk)[1] == list(range(1, 10))
    text = kubectl_json(OBJECTS)
    wanted = [n for n, line in enumerate(text.split(b"\n"), 1) if line == b" " * 8 + b"{"]
    assert read(text, chunk)[1] == wanted
    text = FORMS["kubectl yaml"](OBJECTS)
    wanted = [n for n, line in enumerate(text.split(b"\n"), 1) if line.startswith(b"- ")]
    assert read(text, chunk)[1] == wanted


def test_empty_lines_and_lists_between_lines() -> None:
    lists = json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS[:2]}).encode()
    text = lists + b"\n\n" + json.dumps(OBJECTS[2]).encode()
    found, lines, problems = read(text)
    assert (found, lines, problems) == (OBJECTS[:3], [1, 1, 3], [])


def test_a_separator_is_no_line() -> None:
    one = json.dumps(OBJECTS[0])
    assert read(f"{one}\n---\n{one}\n".encode())[0] == [OBJECTS[0]] * 2


CUT = kubectl_json(OBJECTS)
WRONG = {
    "half a line": (
        FORMS["json lines"](OBJECTS)[:-30],
        8,
        "dump:9: ",
    ),
    "half a list": (CUT[: len(CUT) // 2], 4, "the list is not complete"),
    "no object": (b'{"apiVersion": "v1", "kind": "Pod"}\n{"a": 1}\n', 1, "`apiVersion` and `kind`"),
    "no UTF-8": (b'{"apiVersion": "v1", "kind": "P\xff"}\n', 0, "invalid UTF-8: byte 0xff"),
    "labels": (
        b'{"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}}\n',
        0,
        "`metadata.labels.a` must be text",
    ),
    "deep": (
        b'{"apiVersion": "v1", "kind": "P", "a":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        0,
        "deep",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_is_said(name: str) -> None:
    data, count, said = WRONG[name]
    found, _, problems = read(data)
    assert len(found) == count
    (problem,) = problems
    assert said in problem


HEAD = b'{\n    "apiVersion": "v1",\n    "items": [\n        {'
TOO_LARGE = "is larger than 1 MiB (split it into several files)"


@pytest.mark.parametrize(
    ("begin", "what"), [(b'{"a": "', "line 1"), (HEAD + b"\n", "the object at line 4")]
)
def test_memory_is_bounded(begin: bytes, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_blocks, "MAX_LIST_CHARACTERS", 1 << 20)
    found, _, (problem,) = read(begin + b"x" * (4 << 20), 1 << 19)
    assert found == []
    assert problem == f"dump: {what} {TOO_LARGE}"


@pytest.mark.parametrize(("chunk", "is_read"), [(1000, True), (1001, False)])
def test_where_a_line_becomes_too_large(
    chunk: int, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is how much of it is in memory while its end is not there yet."""
    monkeypatch.setattr(audit_blocks, "MAX_LIST_CHARACTERS", 2000)
    first = json.dumps(OBJECTS[0]).encode()
    data = first[:-1] + b" " * 2500 + b"}\n" + first
    found, _, problems = read(data, chunk)
    refusal = "dump: line 1 is larger than 0 MiB (split it into several files)"
    assert (len(found), problems) == ((2, []) if is_read else (0, [refusal]))


@pytest.mark.parametrize("form", ["json lines", "kubectl json", "kubectl yaml", "raw list"])
def test_files_that_are_read_in_pieces(form: str, tmp_path: Path) -> None:
    """Of which the form is told by the beginning."""
    large = [written("ConfigMap", f"c{n}", data={"a": "x" * 40_000}) for n in range(4)]
    assert _files(tmp_path / "dump", FORMS[form](large)) == large


def test_how_much_of_all_inputs_has_been_read(tmp_path: Path) -> None:
    """Inputs that are not there have no bytes."""
    sizes = []
    for name in ("a.json", "b.json"):
        data = FORMS["json lines"](OBJECTS)
        (tmp_path / name).write_bytes(data)
        sizes.append(len(data))
    files = [str(tmp_path / name) for name in ("a.json", "gone", "b.json")]
    inputs = given_inputs(files)
    assert inputs.total == sum(sizes)
    read_bytes = [block.read_bytes for block in inputs.blocks()]
    assert read_bytes == [sizes[0], sizes[0], sum(sizes)]


def test_inputs_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    missing = str(tmp_path / "gone.json")
    for source, problem in (
        (missing, Problem(missing, 0, "cannot be read: no such file or directory")),
        (str(tmp_path), Problem(str(tmp_path), 0, "cannot be read: is a directory")),
        ("a\0b", Problem("a\0b", 0, "cannot be read: not the name of a file")),
        ("-", STDIN_CLOSED),
    ):
        assert audit_inputs._input(source) == problem
