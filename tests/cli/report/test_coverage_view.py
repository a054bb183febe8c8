"""Coverage as people read it, and in files, checked against what their readers expect of them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from celadon.cli.report.case_view import RENDERERS
from tests.browser import needs_browser, seen
from tests.cli.files import binding, config_map, policy, run
from tests.cli.policytest.given_cases import written

# --- files ----------------------------------------------------------------------------------------


ODD_DOCUMENTS = [policy(expression="object.data.x == '1' && object.data.y < '<&'"), binding()]
CASE = {"object": config_map(x="0", y="1"), "expect": "deny"}

_RATES: Final = {"line-rate", "branch-rate", "complexity"}
_TOTALS: Final = {"lines-covered", "lines-valid", "branches-covered", "branches-valid"}
COBERTURA: Final[dict[str, tuple[list[str], set[str], set[str]]]] = {
    "coverage": (["sources", "packages"], {*_RATES, *_TOTALS, "version", "timestamp"}, set()),
    "sources": (["source*"], set(), set()),
    "source": ([], set(), set()),
    "packages": (["package*"], set(), set()),
    "package": (["classes"], {"name", *_RATES}, set()),
    "classes": (["class*"], set(), set()),
    "class": (["methods", "lines"], {"name", "filename", *_RATES}, set()),
    "methods": (["method*"], set(), set()),
    "lines": (["line*"], set(), set()),
    "line": (["conditions?"], {"number", "hits"}, {"branch", "condition-coverage"}),
}
"""Of each element of Cobertura's DTD: its content, what attributes it must and may have."""


def valid(element: ET.Element) -> None:
    """As the DTD says."""
    content, must, may = COBERTURA[element.tag]
    assert must <= set(element.keys()) <= must | may, element.tag
    children = [child.tag for child in element]
    if len(content) == 1 and content[0][-1] in "*?":
        assert set(children) <= {content[0][:-1]}
    else:
        assert children == content
    for child in element:
        valid(child)


def report(folder: Path, capsys: pytest.CaptureFixture[str], suffix: str) -> str:
    path = written(folder, CASE, documents=ODD_DOCUMENTS)
    file = folder / f"coverage{suffix}"
    assert run(capsys, "test", path, "--coverage-report", str(file))[0] == 0
    return file.read_text(encoding="utf-8")


def test_cobertura(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ET.fromstring(report(tmp_path, capsys, ".xml"))
    valid(root)
    assert [root.get(name) for name in sorted(_TOTALS)] == ["3", "8", "2", "2"]
    (one,) = root.iter("class")
    assert one.get("filename") == str(tmp_path / "limit.yaml")
    lines = [(line.get("hits"), line.get("condition-coverage")) for line in one.iter("line")]
    assert ("1", "37% (3/8)") in lines


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(report(tmp_path, capsys, ".json"))
    assert (found["kind"], found["reached"], found["goals"]) == ("CoverageReport", 5, 10)
    _, out, _ = run(
        capsys, "test", str(tmp_path / "limit.policytest.yaml"), "--coverage", "-o", "json"
    )
    whole = json.loads(out)["coverage"]
    assert whole["policies"] == found["policies"]
    (only,) = whole["policies"]
    missed = [
        (goal["text"], goal["outcome"])
        for goal in only["goals"]
        if goal["counts"] and not goal["cases"]
    ]
    assert ("object.data.y < '<&'", "decisive") in missed


class _Balanced(HTMLParser):
    """Collects classes, and sees that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.classes: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "link"}:
            self.open.append(tag)
        self.classes += [value for name, value in attrs if name == "class"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = report(tmp_path, capsys, ".html")
    parser = _Balanced()
    parser.feed(page)
    assert not parser.open
    assert parser.classes[3:] == ["some", "all"]
    assert "&lt;&amp;" in page
    assert "'<&'" not in page
    pages_lines = re.findall(r"<span.*?</span>", page)
    legend, lines = pages_lines[:3], pages_lines[3:]
    assert legend == [
        '<span class="all">all reached</span>',
        '<span class="some">some of it</span>',
        '<span class="none">nothing</span>',
    ]
    assert lines[0] == "<span>   1  {</span>"
    never = "never true: object.data.x == &#x27;1&#x27; &amp;&amp; object.data.y &lt; "
    assert lines[29].startswith(f'<span class="some" title="{never}')
    assert "&lt;&amp;&#x27;, never true: object.data.x == &#x27;1&#x27;, never " in lines[29]
    assert lines[29].endswith(
        '">  30      &quot;expression&quot;: &quot;object.data.x == &#x27;1&#x27; '
        "&amp;&amp; object.data.y &lt; &#x27;&lt;&amp;&#x27;&quot;</span>"
    )
    assert lines[34] == '<span class="all" title="">  35  {</span>'
    assert len(lines) == 47


@pytest.mark.thorough
@needs_browser
def test_html_in_a_browser(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = seen(report(tmp_path, capsys, ".html"), tmp_path)
    assert "CONSOLE" not in found.log
    assert "<h1>Coverage: " in found.document
    assert found.picture.stat().st_size > 10_000


def test_every_suffix_is_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "test", str(tmp_path), "--coverage-report", "coverage.txt")
    assert code == 2
    assert all(suffix in err for suffix in RENDERERS)


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, CASE, documents=ODD_DOCUMENTS)
    wanted = str(tmp_path / "nowhere" / "coverage.xml")
    code, _, err = run(capsys, "test", path, "--coverage-report", wanted)
    assert code == 2
    assert "no such folder" in err


# --- for people -----------------------------------------------------------------------------------


DOCUMENTS = [policy(expression="object.data.x == '1' && object.data.y == '1'"), binding()]
FINE = {"object": config_map(x="1", y="1"), "expect": "admit"}
X = {"object": config_map(x="0", y="1"), "expect": "deny"}
Y = {"object": config_map(x="1", y="0"), "expect": "deny"}


def test_what_is_missing_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, FINE, X, documents=DOCUMENTS)
    code, out, _ = run(capsys, "test", path, "--coverage")
    file = tmp_path / "limit.yaml"
    assert code == 0
    assert out.splitlines()[:3] == [
        f"PART {file}:1 ValidatingAdmissionPolicy `limit`: 80% (8 of 10)",
        f"  {file}:30 validations[0]: object.data.y == '1': never false, never decisive",
        "",
    ]
    assert "coverage: 80% (8 of 10); 0 of 1 expressions gave an error once\n" in out


def test_an_expression_without_a_case_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"name": "asked", "expression": "object.data.x == '2'"}
    documents = [policy(matchConditions=[asked]), binding()]
    path = written(tmp_path, {**FINE, "expect": "noMatch"}, documents=documents)
    _, out, _ = run(capsys, "test", path, "--coverage")
    lines = [line for line in out.splitlines() if " validations[0]" in line]
    assert [line.partition("validations[0]")[2] for line in lines] == [
        ": object.data.x == 'ok': never evaluated"
    ]


@pytest.mark.parametrize(
    ("option", "code", "text"),
    [
        ("80", 0, "coverage: 80% (8 of 10); "),
        ("80.5%", 1, "coverage: 80% (8 of 10), less than 80.5%; "),
        ("101", 2, ""),
        ("much", 2, ""),
    ],
)
def test_fail_under(
    option: str, code: int, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, FINE, X, documents=DOCUMENTS)
    found, out, _ = run(capsys, "test", path, "--fail-under", option)
    assert found == code
    assert text in out


def test_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, FINE, X, Y, documents=DOCUMENTS)
    code, out, _ = run(capsys, "test", path, "--fail-under", "100")
    assert code == 0
    assert out.startswith(f"FULL {tmp_path / 'limit.yaml'}:1 ")
