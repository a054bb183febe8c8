"""All that is changed in expressions and policies, whole, with the diffs that people are shown.

`tests/cases/altered` has expressions, and policies with what is changed in them; `pytest
--update-golden` writes what comes of them anew, to be read like code.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from celadon.cel.tracing import unexpanded_tree
from celadon.cli.policytest.mutants.canonical_expressions import (
    altered_expressions,
    canonical_text,
    flat_text,
)
from celadon.cli.policytest.mutants.policy_mutants import alterations, diff
from celadon.cli.reading.documents import Document, DocumentReader, Text
from tests.paths import ROOT

FOLDER = ROOT / "tests" / "cases" / "altered"


def _of_expression(text: str) -> Iterator[str]:
    tree = unexpanded_tree(text)
    if tree is not None:
        yield f"  canonical {canonical_text(tree)}"
        yield f"  flat {flat_text(tree)}"
    for one in altered_expressions(text):
        yield f"  {one.kind.value} {one.start} `{one.old}` `{one.new}`: {one.text}"


def test_expressions(request: pytest.FixtureRequest) -> None:
    path = FOLDER / "expressions.txt"
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("$ ")]
    written = "".join(
        "".join(f"{one}\n" for one in (line, *_of_expression(line.removeprefix("$ "))))
        for line in lines
    )
    if request.config.getoption("--update-golden"):
        path.write_text(written, encoding="utf-8")
    assert written == path.read_text(encoding="utf-8")


def test_policies(request: pytest.FixtureRequest) -> None:
    given, path = FOLDER / "policies.yaml", FOLDER / "policies.txt"
    text = Text("policies.yaml", given.read_text(encoding="utf-8"))
    documents = [one for one in DocumentReader().read(text) if isinstance(one, Document)]
    written = "".join(
        f"=== {one.kind.value}: {one.field} {one.text}\n{diff(one)}"
        for one in alterations(documents)
    )
    if request.config.getoption("--update-golden"):
        path.write_text(written, encoding="utf-8")
    assert written == path.read_text(encoding="utf-8")
