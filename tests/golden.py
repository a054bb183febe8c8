"""Golden cases in plain text: reading, comparing, rewriting.

A `.case` file starts with words about it, then holds cases one after the other:

    [case adding an int and a string]
    [expression]
    1 + 'a'
    [issues]
    ERROR: ...

A section is a line in brackets and everything up to the next one. `expression`, `variables`
(`name: type` per line), `container` and `input` (the variables' values, as JSON) are given; all
others are expectations. A case that expects
nothing yet gets its expectations with `pytest --update-golden`, which rewrites the whole file; the
change is then read like code.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

GIVEN = ("container", "variables", "input", "expression")
#: Shown only by cases that have the section already.
ON_REQUEST = ("tree",)

_HEADER = re.compile(r"\[(case [^\]]+|[a-z]+)\]")


@dataclass(slots=True)
class Case:
    """`sections` maps section names to their text, in the order of the file."""

    name: str
    sections: dict[str, str]

    @property
    def expected(self) -> dict[str, str]:
        return {name: text for name, text in self.sections.items() if name not in GIVEN}


@dataclass(slots=True)
class CaseFile:
    """`heading` is what stands before the first case."""

    path: Path
    heading: str
    cases: list[Case]

    @classmethod
    def read(cls, path: Path) -> CaseFile:
        heading: list[str] = []
        cases: list[Case] = []
        current = heading
        bodies: list[tuple[Case, str, list[str]]] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            header = _HEADER.fullmatch(line)
            if header is None:
                current.append(line)
                continue
            current = []
            if header[1].startswith("case "):
                cases.append(Case(header[1].removeprefix("case "), {}))
            else:
                bodies.append((cases[-1], header[1], current))
        for case, section, lines in bodies:
            case.sections[section] = "\n".join(lines).strip("\n")
        return cls(path, "\n".join(heading).strip("\n"), cases)

    def write(self) -> None:
        blocks = [self.heading]
        for case in self.cases:
            parts = [f"[{name}]\n{text}" for name, text in case.sections.items()]
            blocks.append("\n".join((f"[case {case.name}]", *parts)))
        self.path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def compare(
    file: CaseFile, produce: Callable[[Case], Mapping[str, str]], *, update: bool
) -> list[str]:
    """A diff for each case whose expectations are not what `produce` gives now.

    With `update`, the file is rewritten and nothing is reported. Sections that a case does not
    have are not compared, so a case may show only what it is about.
    """
    differences = []
    for case in file.cases:
        produced = produce(case)
        expected = case.expected
        default = {name: text for name, text in produced.items() if name not in ON_REQUEST}
        now = {name: produced.get(name, "") for name in expected} or default
        if now == expected:
            continue
        kept = {name: text for name, text in now.items() if text} or default
        case.sections = {n: t for n, t in case.sections.items() if n in GIVEN} | kept
        differences.append(_difference(f"{file.path.name}: {case.name}", expected, now))
    if update:
        file.write()
        return []
    return differences


def _difference(title: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    lines = difflib.unified_diff(
        _lines(before), _lines(now), title, "--update-golden", lineterm="", n=3
    )
    return "\n".join(lines)


def _lines(sections: Mapping[str, str]) -> list[str]:
    return [line for name, text in sections.items() for line in (f"[{name}]", *text.splitlines())]
