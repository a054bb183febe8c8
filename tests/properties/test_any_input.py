"""Whatever the files contain, `celadon check` ends with an exit code, never a traceback."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cli.main import main
from tests.examples import examples
from tests.paths import ROOT

pytestmark = pytest.mark.thorough

POLICY = (ROOT / "examples" / "policies" / "replica-limit.yaml").read_bytes()
MANIFEST = (ROOT / "examples" / "manifests" / "checkout.yaml").read_bytes()
JSON = (ROOT / "examples" / "manifests" / "debug-pod.json").read_bytes()
PIECES = [
    b"\n", b" ", b"  ", b"- ", b": ", b":", b"'", b'"', b"{", b"}", b"[", b"]", b"|", b">", b"&a ",
    b"*a", b"!!int ", b"#", b"\t", b"\0", b"\xff", b"null", b"true", b"-1", b"1e999", b"---\n",
    b"0x", b"kind", b"List", b"metadata", b"{{ .Values.x }}", b"(", b")", b"object.", b"int(",
    b"\\",
]  # fmt: skip


def judge(policy: bytes, manifest: bytes) -> int:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "policy.yaml").write_bytes(policy)
        (Path(folder) / "manifest.yaml").write_bytes(manifest)
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            return main(["check", "-f", "policy.yaml", "manifest.yaml", "-o", "json"])


@st.composite
def mutated(draw: st.DrawFn, text: bytes) -> bytes:
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 30))
        text = text[:start] + draw(st.sampled_from(PIECES)) + text[end:]
    return text


@settings(max_examples=examples(60))
@given(st.binary(max_size=60))
def test_any_bytes(content: bytes) -> None:
    assert judge(POLICY, content) in (0, 1, 2, 3)


@settings(max_examples=examples(60))
@given(mutated(MANIFEST) | mutated(JSON))
def test_nearly_a_manifest(content: bytes) -> None:
    assert judge(POLICY, content) in (0, 1, 2, 3)


@settings(max_examples=examples(60))
@given(mutated(POLICY))
def test_nearly_a_policy(content: bytes) -> None:
    assert judge(content, MANIFEST) in (0, 1, 2, 3)
