"""Documents that are packed come out as they went in, with their lines."""

from __future__ import annotations

import json

import pytest

from celadon.cli.reading.documents import BLOCK, Document, DocumentArchive, DocumentReader, Text

COUNT = 2 * BLOCK + 7


def one(number: int) -> dict[str, object]:
    kind = "Secret" if number == BLOCK + 1 else "ConfigMap"
    return {"apiVersion": "v1", "kind": kind, "data": {"number": str(number), "b": "x"}}


def yaml_stream() -> str:
    return "---\n".join(
        f"# {number}\napiVersion: v1\nkind: {one(number)['kind']}\n"
        f"data:\n  number: '{number}'\n  b: x\n"
        for number in range(COUNT)
    )


def json_stream() -> str:
    return "\n".join(
        json.dumps(one(number), indent=1 if number % 2 else None) for number in range(COUNT)
    )


def json_list() -> str:
    items = [one(number) for number in range(COUNT)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)


def doubled_keys() -> str:
    return "\n".join(
        '{"apiVersion": "v1", "kind": "ConfigMap",\n "data": {"a": "1", "a": "2"}}'
        for _ in range(COUNT)
    )


def read(text: str) -> list[Document]:
    found = list(DocumentReader(keeps_repeated=True).read(Text("f", text)))
    return [item for item in found if isinstance(item, Document)]


def archived(documents: list[Document]) -> DocumentArchive:
    archive = DocumentArchive()
    for document in documents:
        archive.append(document)
    return archive


def seen(document: Document) -> object:
    repeated = [(again.complaint, again.line) for again in document.repeated]
    first = document.chunk.first_line
    return (
        document.value,
        document.path,
        document.line(),
        document.line(("data", "b")),
        [(complaint, first + line - 1) for complaint, line in repeated],
    )


@pytest.mark.parametrize("text", [yaml_stream(), json_stream(), json_list(), doubled_keys()])
def test_documents_come_out_as_they_went_in(text: str) -> None:
    archive = archived(read(text))
    assert len(archive) == COUNT
    assert archive.blocks == 3
    assert [seen(document) for document in archive] == [seen(document) for document in read(text)]


def test_documents_of_a_kind_are_found() -> None:
    archive = archived(read(yaml_stream()))
    assert archive.kinds == {("", "ConfigMap"), ("", "Secret")}
    (found,) = archive.of_kinds(lambda kind: kind == ("", "Secret"))
    assert found.value == one(BLOCK + 1)
    assert list(archive.of_kinds(lambda kind: kind[1] == "Pod")) == []


def test_an_empty_archive() -> None:
    archive = DocumentArchive()
    assert (len(archive), archive.blocks, archive.kinds, list(archive)) == (0, 0, set(), [])
