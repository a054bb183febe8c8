"""What tests of other tools become, whole: the PolicyTest, what it leaves out, and complaints.

A file of `tests/cases/imports` holds cases: `=== ` and what the case is about, `--- ` and the name
of a file with its text below, the test first, and `>>>` before what comes of it. `pytest
--update-golden` writes that anew, to be read like code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from celadon.cli.policytest.importers.foreign_formats import foreign_tests
from celadon.cli.policytest.importers.rewriting import Rewritten
from celadon.cli.reading.documents import Problem, read_text
from celadon.kube import Json, JsonObject
from tests.paths import ROOT

FILES = sorted((ROOT / "tests" / "cases" / "imports").glob("*.txt"))


def _cases(path: Path) -> dict[str, tuple[str, str]]:
    """Title, and what is given and what comes of it."""
    blocks = re.split(r"^=== (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    halves = (block.partition("\n>>>\n") for block in blocks[2::2])
    return {
        title: (given, shown) for title, (given, _, shown) in zip(blocks[1::2], halves, strict=True)
    }


_LONG = 200


class _Whole(yaml.SafeDumper):
    """Writes what stands twice twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _without_repetition(fields: JsonObject, shown: set[str]) -> dict[str, Json]:
    """Fields of a test and of its cases; what is long is shown once."""
    brief: dict[str, Json] = {}
    for name, value in fields.items():
        text = str(value)
        if name == "cases":
            brief[name] = [_without_repetition(case, shown) for case in value]
        elif len(text) > _LONG and text in shown:
            brief[name] = "as above"
        else:
            shown.add(text)
            brief[name] = value
    return brief


def _shown(rewritten: Rewritten, shown: set[str]) -> Iterator[str]:
    document = _without_repetition(rewritten.document, shown)
    yield yaml.dump(document, Dumper=_Whole, sort_keys=False, width=96).rstrip()
    for case in rewritten.left_out:
        yield f"left out: {case.name}, line {case.place.line}: {case.skip}"
    for doubt in rewritten.test.assumed:
        yield f"assumed: {doubt.text}"
    for problem in rewritten.test.problems:
        yield f"problem: {problem.file}, line {problem.line}: {problem.message}"
    yield f"places: {[case.place.line for case in rewritten.test.cases]}"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        pytest.param(path, title, id=f"{path.stem}: {title}")
        for path in FILES
        for title in _cases(path)
    ],
)
def test_rewritten(
    path: Path,
    title: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = _cases(path)
    given, _ = cases[title]
    parts = re.split(r"^--- (.*)\n", given, flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    text = read_text(parts[1])
    assert not isinstance(text, Problem)
    found = foreign_tests(text, "deny" if "expected by option" in title else "")
    long: set[str] = set()
    shown = "".join(f"{line}\n" for one in found for line in _shown(one, long)) or "none\n"
    if request.config.getoption("--update-golden"):
        cases[title] = given, f"{shown}\n"
        written = "".join(f"=== {one}\n{a}\n>>>\n{b}" for one, (a, b) in cases.items())
        path.write_text(written, encoding="utf-8")
    assert shown == cases[title][1].removesuffix("\n")
