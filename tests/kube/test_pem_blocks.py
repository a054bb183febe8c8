"""Blocks of PEM in a text."""

from __future__ import annotations

import pytest

from celadon.kube.x509 import pem_blocks


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", []),
        ("-----BEGIN A-----\nYWJj\n-----END A-----\n", [("A", b"abc")]),
        ("x\n-----BEGIN A-----\nYW\nJj\n-----END A-----", [("A", b"abc")]),
        ("-----BEGIN A-----\r\nYWJj\r\n-----END A-----\r\n", [("A", b"abc")]),
        ("-----BEGIN A-----\nK: v\n\nYWJj\n-----END A-----\n", [("A", b"abc")]),
        ("-----BEGIN A-----\nYWJj\n-----END B-----\n", []),
        (
            "-----BEGIN A-----\n!\n-----END A-----\n-----BEGIN B-----\nYQ==\n-----END B-----\n",
            [("B", b"a")],
        ),
    ],
)
def test_blocks(text: str, want: list[tuple[str, bytes]]) -> None:
    assert [(block.kind, block.content) for block in pem_blocks(text.encode())] == want


def test_headers_are_told() -> None:
    (block,) = pem_blocks(b"-----BEGIN A-----\nK: v\n\nYWJj\n-----END A-----\n")
    assert block.has_headers
