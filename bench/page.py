"""`python -m bench.page`: docs/performance.md, from what was measured and the words around it.

Whoever measures a part records its tables and values in `bench/figures.json`, and the page is
written anew from all that is recorded: measuring one part, or one row, leaves the others as they
are. The words are in `bench/performance.md`: `{{name}}` stands for a value, or on a line of its own
for a table. A section with a figure that nobody has recorded is left out. With `--check` nothing is
written: it fails if the page says something else, or if a recorded row has missed its goal.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Final, Self

_BENCH: Final = Path(__file__).parent
FIGURES: Final = _BENCH / "figures.json"
TEMPLATE: Final = _BENCH / "performance.md"
PAGE: Final = _BENCH.parent / "docs" / "performance.md"
MISSED: Final = "**missed**"
"""Stands in the last cell of a row under its floor."""

_TABLE: Final = re.compile(r"^\{\{([\w-]+)\}\}$", re.M)
_VALUE: Final = re.compile(r"\{\{([\w-]+)\}\}")
_GAP: Final = re.compile(r"\n{3,}")
_SECTION: Final = re.compile(r"^(?=##)", re.M)

Cells = list[str]


@dataclass(slots=True)
class Figures:
    """What is recorded. The first two rows of a table are its head; a row is known by its first
    cells, as far as the columns are not aligned."""

    tables: dict[str, list[Cells]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        found = json.loads(path.read_text("utf-8"))
        return cls(found["tables"], found["values"])

    def write(self, path: Path) -> None:
        """A row is a line, for the sake of those who read what has changed."""
        lines = ["{", ' "tables": {']
        for name, rows in sorted(self.tables.items()):
            lines += [f"  {_json(name)}: [", *_with_commas(f"   {_json(row)}" for row in rows)]
            lines.append("  ],")
        lines[-1] = lines[-1].removesuffix(",")
        values = (f"  {_json(key)}: {_json(self.values[key])}" for key in sorted(self.values))
        lines += [" },", ' "values": {', *_with_commas(values), " }", "}", ""]
        path.write_text("\n".join(lines), "utf-8")

    def put(self, name: str, lines: Iterable[str], *, whole: bool = True) -> None:
        """Record a table, given as Markdown; unless it is whole, rows of it."""
        head, rule, *rows = (_cells(line) for line in lines if line)
        old = [] if whole else self.tables.get(name, [])[2:]
        known = {_key(rule, row): row for row in [*old, *rows]}
        self.tables[name] = [head, rule, *known.values()]

    def missed(self) -> Iterator[str]:
        """The recorded rows under their floors."""
        for name, rows in self.tables.items():
            yield from (f"{name}: {row[0]}" for row in rows[2:] if row[-1] == MISSED)


def under_floor(lines: Iterable[str]) -> list[str]:
    """The rows of a table in Markdown that are under their floors."""
    return [line for line in lines if line and _cells(line)[-1] == MISSED]


def add_check(parser: argparse.ArgumentParser) -> None:
    """Declare the option that all measurements with floors have."""
    parser.add_argument("--check", action="store_true", help="fail when a row is under its floor")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _with_commas(lines: Iterable[str]) -> list[str]:
    return ",\n".join(lines).split("\n")


def _cells(line: str) -> Cells:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _line(row: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in row)


def _key(rule: Sequence[str], row: Sequence[str]) -> tuple[str, ...]:
    names = takewhile(lambda align: align == "---", rule)
    return tuple(cell for _, cell in zip(names, row, strict=False))


def page(template: str, figures: Figures) -> str:
    """The page: the words of the template with the figures."""
    known = figures.tables.keys() | figures.values.keys()
    sections = _SECTION.split(template)
    shown = [one for one in sections if known.issuperset(_VALUE.findall(one))]
    tables = {name: "\n".join(_line(row) for row in rows) for name, rows in figures.tables.items()}
    text = _TABLE.sub(lambda found: tables.get(found[1], found[0]), "".join(shown))
    text = _VALUE.sub(lambda found: figures.values[found[1]], text)
    return _GAP.sub("\n\n", text).rstrip("\n") + "\n"


def record(
    tables: Mapping[str, Iterable[str]],
    values: Mapping[str, str] | None = None,
    *,
    whole: bool = True,
    into: Path = FIGURES,
) -> None:
    """Keep what was measured, and write the page anew."""
    figures = Figures.read(into)
    for name, lines in tables.items():
        figures.put(name, lines, whole=whole)
    figures.values.update(values or {})
    figures.write(into)
    if into == FIGURES:
        PAGE.write_text(page(TEMPLATE.read_text("utf-8"), figures), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, but fail")
    options = parser.parse_args()
    figures = Figures.read(FIGURES)
    made = page(TEMPLATE.read_text("utf-8"), figures)
    if not options.check:
        PAGE.write_text(made, "utf-8")
        return 0
    wrong = [f"missed: {row}" for row in figures.missed()]
    if made != PAGE.read_text("utf-8"):
        wrong.append(f"{PAGE.name} is not what {FIGURES.name} and its template say")
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
