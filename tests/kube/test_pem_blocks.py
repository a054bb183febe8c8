"""Blocks of PEM in a text."""

from __future__ import annotations

import pytest

from celadon.kube.x509 import PemBlock, pem_blocks


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


@pytest.mark.parametrize(
    "text",
    [
        b"-----BEGIN A-----\n" + b"a:b\n" * 300_000,
        b"-----BEGIN A:-----\n" * 100_000,
        b"-----BEGIN A-----\n" + b"a:b\n" * 100_000 + b"YQ==\n" * 100_000,
        b"-----BEGIN " + b"-" * 1_000_000,
    ],
)
def test_what_never_ends_is_read_once(text: bytes) -> None:
    """Read again from each of its lines, it would take hours."""
    assert list(pem_blocks(text)) == []


def test_headers_are_no_content() -> None:
    text = b"-----BEGIN A-----\nProc-Type: 4\nx:\n\nYQ==\n-----END A-----\n"
    assert list(pem_blocks(text)) == [PemBlock("A", b"a", has_headers=True)]
