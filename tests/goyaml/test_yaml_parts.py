"""A file of several documents, cut as Kubernetes' own programs cut it."""

from __future__ import annotations

import pytest

from celadon.goyaml.yaml_scalars import SeparatorError, yaml_parts


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"", []),
        (b" \n\n", []),
        (b"a: 1", [b"a: 1"]),
        (b"a: 1\n---\nb: 2\n", [b"a: 1", b"b: 2"]),
        (b"a: 1\r\nb: 2\r\n--- \r\nc: 3", [b"a: 1\nb: 2", b"c: 3"]),
        (b"a: 1\n---\n  \n---\nb: 2", [b"a: 1", b"b: 2"]),
        (b"a: 1\n--- # more\nb: 2", [b"a: 1", b"b: 2"]),
        (b"---\na: 1\n---\n", [b"---\na: 1"]),
        (b"---\n# nothing\n---\na: 1", [b"---\n# nothing", b"a: 1"]),
        (b"a: |\n  ---\n  b", [b"a: |\n  ---\n  b"]),
    ],
)
def test_parts(data: bytes, parts: list[bytes]) -> None:
    assert list(yaml_parts(data)) == parts


@pytest.mark.parametrize("behind", ["a: 1", "-"])
def test_something_behind_a_separator(behind: str) -> None:
    with pytest.raises(SeparatorError) as wrong:
        list(yaml_parts(f"a: 1\n---{behind}\n".encode()))
    assert str(wrong.value) == f"invalid Yaml document separator: {behind}"
