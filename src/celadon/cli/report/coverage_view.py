"""What cases have not reached, as lines for people, policy by policy, each part with its line; and
as files: JSON, Cobertura XML, and a page with policies in colours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any, Final

from celadon.cli.check.check_report import Place
from celadon.cli.explain.value_texts import shortened
from celadon.cli.policytest.coverage_counts import Coverage, Goal, Measured, Wanted
from celadon.cli.report.json_form import Shapes, data, document
from celadon.cli.report.plain_text import Look, for_people
from celadon.records import dataclass

_MOST_CHARACTERS: Final = 100
_BRANCHES: Final = frozenset({Wanted.TRUE, Wanted.FALSE, Wanted.DECIDES})


# --- for people -----------------------------------------------------------------------------------


def coverage_blocks(coverage: Coverage, wanted: float, look: Look) -> Iterator[list[str]]:
    """A block for each policy, then one for all."""
    for policy, found in coverage.of_policies().items():
        yield [_head(policy, found, look), *_missing_lines(found)]
    seen, every = coverage.errors
    less = f", less than {wanted:g}%" if coverage.percentage < wanted else ""
    yield [
        f"coverage: {_share(coverage)}{look.paint('denied', less) if less else ''}; "
        f"{seen} of {every} expressions gave an error once"
    ]


def _share(coverage: Coverage) -> str:
    """Rounded down: 100% is all."""
    tenths = int(coverage.percentage * 10) / 10
    return f"{tenths:g}% ({coverage.reached} of {coverage.goals})"


def _head(policy: Measured, found: Coverage, look: Look) -> str:
    style, word = ("admitted", "FULL") if found.reached == found.goals else ("warning", "PART")
    where = f"{policy.file}:{policy.line}"
    return f"{look.paint(style, word)} {where} {policy.kind} `{policy.name}`: {_share(found)}"


def _missing_lines(coverage: Coverage) -> Iterator[str]:
    """One for each part of which something is missing; of an expression that was never evaluated
    only that."""
    missed = (goal for goal, count in coverage.hits if goal.counts and not count)
    for _, of_field in groupby(missed, lambda one: one.field):
        goals = list(of_field)
        if goals[0].wanted is Wanted.EVALUATED:
            goals = goals[:1]
        for (place, field, text, _), parts in groupby(goals, _part):
            said = ", ".join(f"never {one.wanted.value}" for one in parts)
            shown = f": {shortened(' '.join(text.split()), _MOST_CHARACTERS)}" if text else ""
            yield f"  {place} {field}{shown}: {said}"


def _part(goal: Goal) -> tuple[Place, str, str, int]:
    return goal.place, goal.field, goal.text, goal.start


# --- files ----------------------------------------------------------------------------------------


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
    """Return the lines by file, in order."""
    found: dict[tuple[str, int], list[tuple[Goal, int]]] = {}
    for goal, count in coverage.hits:
        if goal.counts:
            found.setdefault((goal.place.file, goal.place.line), []).append((goal, count))
    files: dict[str, list[_Line]] = {}
    for file, number in sorted(found):
        files.setdefault(file, []).append(_Line(number, tuple(found[file, number])))
    return files


def coverage_document(coverage: Coverage) -> dict[str, Any]:
    """Return plain data: for each policy its goals, with the number of cases that reached them."""
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
                "goals": [data(goal, _SHAPES) | {"cases": count} for goal, count in found.hits],
            }
            for policy, found in coverage.of_policies().items()
        ],
    }


_SHAPES: Final[Shapes] = {
    Goal: (
        *("file=place.file!", "line=place.line!", "field!", "text!", "outcome=wanted", "counts!"),
    )
}


def as_json(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """One document."""
    found = document("CoverageReport", **coverage_document(coverage))
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def as_cobertura(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """Write it as Cobertura's `coverage-04.dtd` has it: files are classes; the outcomes of
    conditions and of operands are branches. There is no time in it: the same run gives the same
    text."""
    from xml.etree import ElementTree as ET

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
    from celadon.cli.report.html_pages import page

    shown = for_people(coverage)
    missing = "".join(f"<li>{escape(one.strip())}</li>\n" for one in _missing_lines(shown))
    files = "".join(
        f"<h2>{escape(file)}</h2>\n<pre>{''.join(_coloured(sources.get(file, ''), lines))}</pre>\n"
        for file, lines in _lines(coverage).items()
    )
    body = _BODY.format(share=escape(_share(coverage)), missing=missing, files=files)
    return page("Coverage of policies", _STYLE, body)


def _coloured(text: str, lines: list[_Line]) -> Iterator[str]:
    known = {line.number: line for line in lines}
    for number, written in enumerate(text.splitlines(), 1):
        shown = f"{number:4}  {escape(written)}"
        line = known.get(number)
        if line is None:
            yield f"<span>{shown}</span>"
            continue
        reached = [count > 0 for _, count in line.counts]
        colour = "all" if all(reached) else "some" if any(reached) else "none"
        never = ", ".join(f"never {g.wanted.value}: {g.text}" for g, n in line.counts if not n)
        yield f'<span class="{colour}" title="{escape(never)}">{shown}</span>'


RENDERERS: Final[Mapping[str, Callable[[Coverage, Mapping[str, str]], str]]] = {
    ".json": as_json,
    ".xml": as_cobertura,
    ".html": as_html,
}
"""By the suffix of the file."""
