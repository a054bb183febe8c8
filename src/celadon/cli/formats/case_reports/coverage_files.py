"""Coverage as files: JSON, Cobertura XML, and a page with policies in colours."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from celadon.cli.formats.case_reports.coverage_text import missing_lines, share
from celadon.cli.formats.check_data import API_VERSION
from celadon.cli.formats.html_page import page
from celadon.cli.formats.plain_text import for_people
from celadon.cli.policy_tests.coverage_counts import Coverage, Goal, Wanted
from celadon.records import dataclass

_BRANCHES: Final = frozenset({Wanted.TRUE, Wanted.FALSE, Wanted.DECIDES})


@dataclass(frozen=True, slots=True)
class _Line:
    """The goals on one line that count, and in how many cases each was reached."""

    number: int
    counts: tuple[tuple[Goal, int], ...]

    @property
    def hits(self) -> int:
        return max(count for _, count in self.counts)

    @property
    def branches(self) -> tuple[int, int]:
        """Reached, and all."""
        counts = [count for goal, count in self.counts if goal.wanted in _BRANCHES]
        return sum(count > 0 for count in counts), len(counts)


def _lines(coverage: Coverage) -> dict[str, list[_Line]]:
    """By file, in order."""
    found: dict[tuple[str, int], list[tuple[Goal, int]]] = {}
    for goal, count in coverage.hits:
        if goal.counts:
            found.setdefault((goal.place.file, goal.place.line), []).append((goal, count))
    files: dict[str, list[_Line]] = {}
    for file, number in sorted(found):
        files.setdefault(file, []).append(_Line(number, tuple(found[file, number])))
    return files


def coverage_document(coverage: Coverage) -> dict[str, Any]:
    """As plain data: for each policy its goals, with the number of cases that reached them."""
    return {
        "percentage": round(coverage.percentage, 2),
        "reached": coverage.reached,
        "goals": coverage.goals,
        "policies": [
            {
                "name": policy.name,
                "kind": policy.kind,
                "file": policy.file,
                "line": policy.line,
                "percentage": round(found.percentage, 2),
                "goals": [_goal(goal, count) for goal, count in found.hits],
            }
            for policy, found in coverage.of_policies().items()
        ],
    }


def _goal(goal: Goal, count: int) -> dict[str, Any]:
    return {
        "file": goal.place.file,
        "line": goal.place.line,
        "field": goal.field,
        "text": goal.text,
        "outcome": goal.wanted.value,
        "counts": goal.counts,
        "cases": count,
    }


def as_json(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """One document."""
    found = {"apiVersion": API_VERSION, "kind": "CoverageReport", **coverage_document(coverage)}
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def as_cobertura(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """As Cobertura's `coverage-04.dtd` has it: files are classes; the outcomes of conditions and of
    operands are branches. There is no time in it: the same run gives the same text."""
    files = _lines(for_people(coverage))
    every = [line for lines in files.values() for line in lines]
    covered, valid = _sums(every)
    root = ET.Element(
        "coverage",
        {
            **_rates(every),
            "lines-covered": str(sum(line.hits > 0 for line in every)),
            "lines-valid": str(len(every)),
            "branches-covered": str(covered),
            "branches-valid": str(valid),
            "version": "1",
            "timestamp": "0",
        },
    )
    ET.SubElement(ET.SubElement(root, "sources"), "source").text = "."
    packages = ET.SubElement(root, "packages")
    package = ET.SubElement(packages, "package", {"name": "policies", **_rates(every)})
    classes = ET.SubElement(package, "classes")
    for file, lines in files.items():
        one = ET.SubElement(classes, "class", {"name": file, "filename": file, **_rates(lines)})
        ET.SubElement(one, "methods")
        written = ET.SubElement(one, "lines")
        for line in lines:
            ET.SubElement(written, "line", _line_attributes(line))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _sums(lines: list[_Line]) -> tuple[int, int]:
    pairs = [line.branches for line in lines]
    return sum(one for one, _ in pairs), sum(one for _, one in pairs)


def _rates(lines: list[_Line]) -> dict[str, str]:
    covered, valid = _sums(lines)
    hit = sum(line.hits > 0 for line in lines)
    return {
        "line-rate": f"{hit / len(lines) if lines else 1:.4f}",
        "branch-rate": f"{covered / valid if valid else 1:.4f}",
        "complexity": "0",
    }


def _line_attributes(line: _Line) -> dict[str, str]:
    given = {"number": str(line.number), "hits": str(line.hits), "branch": "false"}
    covered, valid = line.branches
    if valid:
        share_of = f"{100 * covered // valid}% ({covered}/{valid})"
        given |= {"branch": "true", "condition-coverage": share_of}
    return given


_STYLE: Final = """
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
  color: #222; }
pre { border: 1px solid #ccc; padding: .5em 0; overflow-x: auto; }
pre span { display: block; padding: 0 1em; min-height: 1.4em; }
.all { background: #dff3df; } .some { background: #fdf2c8; } .none { background: #f9d9d6; }
"""
_BODY: Final = """\
<h1>Coverage: {share}</h1>
<p><span class="all">all reached</span> <span class="some">some of it</span>
<span class="none">nothing</span></p>
<ul>
{missing}</ul>
{files}"""


def as_html(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """One page that needs nothing else. `sources` are the texts of the files by their names."""
    shown = for_people(coverage)
    missing = "".join(f"<li>{html.escape(one.strip())}</li>\n" for one in missing_lines(shown))
    files = "".join(
        f"<h2>{html.escape(file)}</h2>\n<pre>{''.join(_coloured(sources.get(file, ''), lines))}"
        "</pre>\n"
        for file, lines in _lines(coverage).items()
    )
    body = _BODY.format(share=html.escape(share(coverage)), missing=missing, files=files)
    return page("Coverage of policies", _STYLE, body)


def _coloured(text: str, lines: list[_Line]) -> Iterator[str]:
    known = {line.number: line for line in lines}
    for number, written in enumerate(text.splitlines(), 1):
        shown = f"{number:4}  {html.escape(written)}"
        line = known.get(number)
        if line is None:
            yield f"<span>{shown}</span>"
            continue
        reached = [count > 0 for _, count in line.counts]
        colour = "all" if all(reached) else "some" if any(reached) else "none"
        never = ", ".join(f"never {g.wanted.value}: {g.text}" for g, n in line.counts if not n)
        yield f'<span class="{colour}" title="{html.escape(never)}">{shown}</span>'


RENDERERS: Final[Mapping[str, Callable[[Coverage, Mapping[str, str]], str]]] = {
    ".json": as_json,
    ".xml": as_cobertura,
    ".html": as_html,
}
"""By the suffix of the file."""
