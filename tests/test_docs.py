"""The documentation is true: shown outputs, snippets, commands, options, links, Makefile."""

from __future__ import annotations

import doctest
import re
import runpy
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from celadon.cli.main import COMMANDS, Command, main, parser_of
from celadon.cli.reading.documents import is_test_file
from tests.docs import Shown, actual, shown
from tests.paths import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "examples" / "README.md",
]
COMMANDS_SHOWN = [
    pytest.param(one, id=f"{page.name}: {one.command[:60]}")
    for page in PAGES
    if page.parent.name != "tutorials"  # tests/tutorials performs those
    for one in shown(page)
]


@pytest.mark.parametrize("one", COMMANDS_SHOWN)
def test_shown_output_is_the_actual_one(one: Shown) -> None:
    assert one.output == actual(one.command), "rewrite it with `python -m tests.docs PAGE`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_sessions(page: Path) -> None:
    sessions = re.findall(r"```pycon\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    text = "\n".join(sessions)
    failed, _ = runner.run(parser.get_doctest(text, {}, page.name, str(page), 0))
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        to = (page.parent / target).resolve() if target else page
        assert to.exists(), f"{page.name}: {target}"
        if anchor and to.suffix == ".md":
            assert anchor in _anchors(to), f"{page.name}: {target}#{anchor}"


@cache
def _anchors(page: Path) -> frozenset[str]:
    """Those of a page's headings, as the forge and MyST make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
    )


@pytest.mark.parametrize("folder", ["docs", "docs/decisions"])
def test_an_index_links_every_page(folder: str) -> None:
    index = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / folder).rglob("*.md"):
        if page.name not in ("README.md", "index.md") and (
            folder == "docs/decisions" or page.parent.name != "decisions"
        ):
            assert f"({page.relative_to(ROOT / folder)})" in index, page


def test_every_page_says_its_kind() -> None:
    """As the index does: a tutorial, a how-to, a reference, an explanation."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z-]+) \| \[.*?\]\((?!\.\.)(.*?)\)", index, re.MULTILINE)
    assert len(rows) > 20
    for kind, name in rows:
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert re.search(rf"^\*{kind}\b[^*]*\*", text, re.MULTILINE | re.IGNORECASE), name


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_is_documented(command: Command) -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    section = re.search(rf"^## celadon {command.name}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.M)
    assert section is not None, f"docs/cli.md has no section `celadon {command.name}`"
    for action in parser_of(command)._actions:
        assert action.help, f"{command.name}: {action.dest} has no help for docs/options.md"


@pytest.mark.parametrize("page", ["README.md", "docs/webhook.md"])
def test_webhooks_in_python(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block of Python about webhooks is `rules.py`, others are its tests, and pass."""
    text = (ROOT / page).read_text(encoding="utf-8")
    rules, *tests = (
        block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "webhook" in block
    )
    (tmp_path / "rules.py").write_text(rules, encoding="utf-8")
    assert runpy.run_path(str(tmp_path / "rules.py"))["app"].handlers
    monkeypatch.syspath_prepend(tmp_path)
    for number, block in enumerate(tests):
        file = tmp_path / f"test_rules_{number}.py"
        file.write_text(block, encoding="utf-8")
        called = [
            value() for name, value in runpy.run_path(str(file)).items() if name.startswith("test_")
        ]
        assert called
    sys.modules.pop("rules", None)


def test_the_readme_s_beginning_is_what_a_newcomer_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```\npip install celadon\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    for line in block[1].splitlines():
        program, *words = line.split()
        if program == "cd":
            monkeypatch.chdir(tmp_path / words[0])
        else:
            assert program == "celadon"
            assert main(words) == 0, line


def test_the_demo_of_the_readme_is_that_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    demo = re.search(r"^DEMO := (.*)$", makefile, re.M)
    assert demo is not None
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"celadon check {demo[1]}" in text


def test_the_readme_names_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:celadon\[)?(\w+)\]?`", text))
    assert set(project["optional-dependencies"]) - {"dev", "docs"} <= named


def test_changelog_has_unreleased_changes_on_top() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (.*)$", text, re.M)[1] == "Unreleased"  # type: ignore[index]  # a None is a failure too


def test_every_example_is_mentioned() -> None:
    story = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for path in (ROOT / "examples" / "policies").iterdir():
        if not is_test_file(str(path)):
            assert f"policies/{path.name}" in story
