"""Texts to documents: cutting, lists, problems beside good documents, positions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from celadon.cli.reading.documents import (
    MAX_DOCUMENT_CHARACTERS,
    Document,
    DocumentReader,
    Problem,
    Text,
    chunk_start,
)
from celadon.cli.reading.locations import Chunk
from tests.growth.counted_steps import LINEAR, growth


def read(content: str) -> list[Document | Problem]:
    return list(DocumentReader().read(Text("f.yaml", content)))


def shown(content: str) -> list[str]:
    return [
        f"{item.line}: {item.message}"
        if isinstance(item, Problem)
        else f"{item.line()}: {item.value['kind']}"
        for item in read(content)
    ]


def test_yaml_documents_and_their_lines() -> None:
    text = "# hi\n---\n# a\napiVersion: v1\nkind: A\n--- # next\n\napiVersion: v1\nkind: B\n---\n"
    assert shown(text) == ["4: A", "8: B"]


def test_a_broken_document_leaves_the_others() -> None:
    text = "apiVersion: v1\nkind: A\n---\na: b: c\n---\napiVersion: v1\nkind: C\n"
    assert shown(text) == ["1: A", "4: mapping values are not allowed in this context", "6: C"]


def test_a_separator_with_content_behind_it() -> None:
    assert shown("--- {apiVersion: v1, kind: A}\n--- \napiVersion: v1\nkind: B\n") == [
        "1: A",
        "3: B",
    ]


def test_directives() -> None:
    text = "%YAML 1.1\n---\napiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n"
    assert shown(text) == ["3: A", "6: B"]
    assert [item.line(("kind",)) for item in read(text) if isinstance(item, Document)] == [4, 7]


def test_no_object() -> None:
    assert shown("- a\n- b\n") == ["1: an object is expected here, not a list"]
    assert shown("text\n") == ["1: an object is expected here, not a single value"]
    assert shown("a: 1\n") == ["1: `apiVersion` and `kind` not set"]
    assert shown("apiVersion: v1\n---\nkind: A\n") == [
        "1: `kind` not set",
        "3: `apiVersion` not set",
    ]
    assert shown("apiVersion: v1\nkind: 5\n") == ["1: `apiVersion` and `kind` must be text"]
    assert shown("# nothing\n---\n---\n\n") == []


def test_json_and_flow_yaml() -> None:
    assert shown('{"apiVersion": "v1", "kind": "A"}\n{"apiVersion": "v1",\n"kind": "B"}') == [
        "1: A",
        "2: B",
    ]
    assert shown("\n{apiVersion: v1, kind: A}\n") == ["2: A"]
    assert shown('{"apiVersion": "v1", "kind": "A"}\n---\napiVersion: v1\nkind: B\n') == [
        "1: A",
        "3: B",
    ]
    assert shown('{"apiVersion": "v1",\n"kind" "A"}\n') == ["2: expecting ':' delimiter"]


def test_lines_in_a_stream_of_json_are_counted_once() -> None:
    one = '{"apiVersion": "v1",\n "kind": "A", "spec": {"a": 1,\n"b": 2}}'
    stream = "\n\n" + one + " " + one + "\n" + one
    found = [item for item in read(stream) if isinstance(item, Document)]
    assert [item.line() for item in found] == [3, 5, 8]
    assert [item.line(("spec", "b")) for item in reversed(found)] == [10, 7, 5]
    assert [item.chunk.spot((*item.path, "kind")) for item in found] == [(4, 2), (6, 2), (9, 2)]
    assert [item.line() for item in found] == [3, 5, 8]


def test_lists_become_their_items() -> None:
    text = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: A
- apiVersion: v1
  kind: List
  items:
  - apiVersion: v1
    kind: B
- 5
"""
    assert shown(text) == ["4: A", "9: B", "11: an object is expected here, not a single value"]
    typed = '{"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [\n{"metadata": {}}]}'
    assert shown(typed) == ["2: Deployment"]
    assert shown("apiVersion: v1\nkind: List\n") == []


def test_lines_of_fields_in_both_formats() -> None:
    value = {
        "apiVersion": "v1",
        "kind": "P",
        "spec": {"validations": [{"expression": "x", "message": 'a "b": ['}, {"expression": "y"}]},
    }
    text = json.dumps(value, indent=1)
    (document,) = read(text)
    assert isinstance(document, Document)
    lines = text.splitlines()
    path = ("spec", "validations", 1, "expression")
    assert '"expression": "y"' in lines[document.line(path) - 1]
    assert '"spec"' in lines[document.line(("spec", "nothing")) - 1]
    (document,) = read(
        "apiVersion: v1\nkind: P\nspec:\n  validations:\n  - expression: x\n  - message: m\n"
        "    expression: y\n"
    )
    assert isinstance(document, Document)
    assert document.line(path) == 7
    assert document.line(("spec", "validations", 9)) == 4
    assert document.position(("kind",)) == "f.yaml:2"


def test_lines_of_fields_in_list_items() -> None:
    item = {"apiVersion": "v1", "kind": "A", "spec": {"a": [1, {"b": 2}]}}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [item, item]}, indent=1)
    first, second = (item for item in read(text) if isinstance(item, Document))
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines, 1) if line == "  {"]
    assert [first.line(), second.line()] == starts
    leaves = [number for number, line in enumerate(lines, 1) if '"b"' in line]
    assert [item.line(("spec", "a", 1, "b")) for item in (first, second)] == leaves


def test_too_large_an_object() -> None:
    big = "x" * (MAX_DOCUMENT_CHARACTERS + 1)
    message = "Request entity too large: limit is 3145728"
    assert shown(f"---\napiVersion: v1\nkind: A\ndata: {big}\n") == [f"2: {message}"]
    assert shown(f'{{"apiVersion": "v1", "kind": "A", "data": "{big}"}}') == [f"1: {message}"]
    small = "y" * 1000
    items = f"- apiVersion: v1\n  kind: A\n  data: {small}\n" * 3200
    assert len(shown(f"apiVersion: v1\nkind: List\nitems:\n{items}")) == 3200


_SMALL = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
MANY = {
    "plain": lambda count: "---\n".join([_SMALL] * count),
    "of Windows": lambda count: "---\r\n".join([_SMALL.replace("\n", "\r\n")] * count),
    "behind a directive": lambda count: "%YAML 1.1\n---\n" + "---\n".join([_SMALL] * count),
}


@pytest.mark.parametrize("text_of", MANY.values(), ids=MANY)
def test_places_in_many_documents_are_found_in_proportion(text_of: Callable[[int], str]) -> None:
    def work(count: int) -> Callable[[], object]:
        def places() -> None:
            text = Text("a.yaml", text_of(count))
            found = [
                (chunk_start(text, document), document.line(("metadata", "name")))
                for document in DocumentReader().read(text)
                if isinstance(document, Document)
            ]
            assert len(set(found)) == count or text.content.startswith("%")

        return places

    assert growth(work, 20) < LINEAR


class _Searched(str):
    """A text that counts the characters in which something is looked for."""

    __slots__ = ()
    characters = 0

    def rfind(self, sub: str, start: Any = 0, end: Any = None) -> int:
        place = str.rfind(self, sub, start, end)
        _Searched.characters += (len(self) if end is None else end) - max(place, start)
        return place


def test_places_on_one_long_line_are_found_in_proportion() -> None:
    value = {"apiVersion": "v1", "kind": "A", "items": [{"name": "x"}] * 1_000}
    text = _Searched(json.dumps(value))
    chunk = Chunk("a.json", text, 1, 0, is_json=True)
    spots = [chunk.spot(("items", index)) for index in range(1_000)]
    assert [text[column - 1] for _, column in spots] == ["{"] * 1_000
    assert _Searched.characters < 10 * len(text)
