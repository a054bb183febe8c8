"""The shape of the source in numbers, beside what is aimed at: `make shape`.

`python -m tools.shape` prints the table; with `--write` it goes into docs/architecture.md, too.
Lines, comments, imports, lonely modules and fragments are counted on the text of all of `src`;
docstrings are those of modules, classes and functions.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Final

from tests.architecture.source_tree import SOURCE, Node, SourceTree, read_source, rings

from tools.doc_words import MOST, written_by_commands, written_by_hand

MAP: Final = SOURCE.parent / "docs" / "architecture.md"
BEGIN, END = "<!-- shape: written by `make shape` -->\n", "<!-- end of shape -->\n"

LONG_MODULE = 800
LONG_FUNCTION = 60
SMALL_MODULE = 90
FRAGMENTS = frozenset(
    {
        "As", "By", "For", "How", "None", "Not", "Of", "Those", "What", "Where", "Whether", "Which",
        "Who", "Whose", "Why",
    }
)  # fmt: skip
"""Words that begin a docstring which is no sentence."""

_CHECK = """\
import sys
from celadon.cli.main import main
try:
    main(["check", sys.argv[1]])
except SystemExit:
    pass
loaded = [one for one in sys.modules if one == "celadon" or one.startswith("celadon.")]
print(len(loaded), file=sys.stderr)
"""
_OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: default}\n"


@dataclass(frozen=True)
class Shape:
    """What was counted of a source tree."""

    source: SourceTree
    loaded: int

    @property
    def lines(self) -> dict[str, int]:
        """By module."""
        return {module: len(file.text.splitlines()) for module, file in self.source.items()}

    @property
    def all_lines(self) -> int:
        return sum(self.lines.values())

    @property
    def filled_lines(self) -> int:
        """Lines that are not blank."""
        return sum(bool(line.strip()) for file in self.source.values() for line in file.lines)

    @property
    def folders(self) -> int:
        return len({file.path.parent for file in self.source.values()})

    @property
    def import_lines(self) -> int:
        return sum(
            (node.end_lineno or node.lineno) - node.lineno + 1
            for node in self._nodes(ast.Import, ast.ImportFrom)
        )

    @property
    def comment_lines(self) -> int:
        return sum(
            line.lstrip().startswith("#") for file in self.source.values() for line in file.lines
        )

    @property
    def docstring_lines(self) -> int:
        places = (node.body[0] for node in self._documented())
        return sum((one.end_lineno or one.lineno) - one.lineno + 1 for one in places)

    @property
    def any_names(self) -> int:
        return sum(node.id == "Any" for node in self._nodes(ast.Name))

    @property
    def largest_door(self) -> int:
        return max((len(file.exported) for file in self.source.values()), default=0)

    @property
    def rings(self) -> int:
        return len(rings({one: file.imported_modules for one, file in self.source.items()}))

    @property
    def long_modules(self) -> int:
        return sum(lines > LONG_MODULE for lines in self.lines.values())

    @cached_property
    def functions(self) -> list[int]:
        """The lines of each function."""
        return [
            (node.end_lineno or node.lineno) - node.lineno + 1
            for node in self._nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        ]

    @property
    def lonely_modules(self) -> int:
        """Small modules that one other imports of."""
        readers: defaultdict[str, set[str]] = defaultdict(set)
        for module, file in self.source.items():
            for imported in file.imports:
                readers[imported].add(module)
        return sum(
            lines < SMALL_MODULE
            and len(readers[module]) == 1
            and not self.source[module].is_package
            for module, lines in self.lines.items()
        )

    @property
    def fragments(self) -> float:
        """The part of the docstrings of functions and classes that begin like no sentence."""
        texts = [
            ast.get_docstring(node) or ""
            for node in self._documented()
            if not isinstance(node, ast.Module)
        ]
        words = (text.split(maxsplit=1)[0].strip(":,.") for text in texts if text)
        return _percent(sum(word in FRAGMENTS for word in words), len(texts))

    def _nodes(self, *classes: type[Node]) -> Iterator[Node]:
        for file in self.source.values():
            yield from file.nodes(*classes)

    def _documented(
        self,
    ) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in self._nodes(ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False):
                yield node


def _percent(part: float, whole: float) -> float:
    return 100 * part / (whole or 1)


def _ninth_tenth(sizes: list[int]) -> int:
    return round(quantiles(sizes, n=10)[-1]) if len(sizes) > 1 else max(sizes, default=0)


@dataclass(frozen=True)
class Measure:
    """A row of the table. `aim` is what the house aims at."""

    name: str
    aim: str
    of: Callable[[Shape], int | float]
    unit: str = ""

    def value(self, shape: Shape) -> str:
        number = self.of(shape)
        return f"{number:.1f}{self.unit}" if isinstance(number, float) else f"{number:,}"


MEASURES: Final = (
    Measure("modules", "500 to 650", lambda shape: len(shape.source)),
    Measure("lines", "at most 142,000", lambda shape: shape.all_lines),
    Measure(
        "lines of `src/celadon`",
        "at most 130,000",
        lambda shape: sum(n for one, n in shape.lines.items() if f"{one}.".startswith("celadon.")),
    ),
    Measure(
        "lines of a module, mean", "190 to 250", lambda shape: round(mean(shape.lines.values()))
    ),
    Measure("lines of a module, median", "", lambda shape: round(median(shape.lines.values()))),
    Measure("folders", "at most 90", lambda shape: shape.folders),
    Measure(
        "lines that import",
        "at most 5 %",
        lambda shape: _percent(shape.import_lines, shape.all_lines),
        " %",
    ),
    Measure(
        "lines that comment",
        "at least 3 %",
        lambda shape: _percent(shape.comment_lines, shape.all_lines),
        " %",
    ),
    Measure(
        "lines of docstrings",
        "",
        lambda shape: _percent(shape.docstring_lines, shape.all_lines),
        " %",
    ),
    Measure("docstrings that begin with a fragment", "0 %", lambda shape: shape.fragments, " %"),
    Measure(
        "`Any` in 1,000 lines that are not blank",
        "at most 6",
        lambda shape: 1000 * shape.any_names / (shape.filled_lines or 1),
    ),
    Measure("names at the largest door", "at most 30", lambda shape: shape.largest_door),
    Measure("rings of imports", "0", lambda shape: shape.rings),
    Measure("modules loaded by a `check` of one object", "at most 280", lambda one: one.loaded),
    Measure(f"modules over {LONG_MODULE} lines", "0", lambda shape: shape.long_modules),
    Measure(
        f"functions over {LONG_FUNCTION} lines",
        "0",
        lambda shape: sum(lines > LONG_FUNCTION for lines in shape.functions),
    ),
    Measure(
        "lines of a function, 90th percentile", "", lambda shape: _ninth_tenth(shape.functions)
    ),
    Measure(
        f"modules under {SMALL_MODULE} lines with one reader",
        "",
        lambda shape: shape.lonely_modules,
    ),
    Measure(
        "words of the documentation for users, written by hand",
        f"at most {MOST:,}",
        lambda _: written_by_hand(),
    ),
    Measure("the same, written by commands", "", lambda _: written_by_commands()),
)


def measured(root: Path = SOURCE) -> Shape:
    """The shape of the tree below a folder."""
    return Shape(read_source(root), modules_loaded())


def modules_loaded() -> int:
    """How many modules of the product a `celadon check` of one object has imported at its end."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder, "one.yaml")
        manifest.write_text(_OBJECT)
        environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(SOURCE)}
        done = subprocess.run(
            [sys.executable, "-c", _CHECK, str(manifest)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    return int(done.stderr.splitlines()[-1])


def table(shape: Shape) -> str:
    """The table, as it stands in docs/architecture.md."""
    rows = [f"| {one.name} | {one.value(shape)} | {one.aim} |\n" for one in MEASURES]
    return "".join(("| of `src` | today | aim |\n", "|---|---:|---|\n", *rows))


def with_table(page: str, shown: str) -> str:
    """A page with the table between the two marks. Raises ValueError where they are missing."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no place for the table")
    return "".join((before, begin, "\n", shown, "\n", end, after))


def main() -> int:
    """Prints the table, and writes it where that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m tools.shape", description=__doc__)
    parser.add_argument("--write", action="store_true", help="into docs/architecture.md, too")
    shown = table(measured())
    if parser.parse_args().write:
        MAP.write_text(with_table(MAP.read_text(encoding="utf-8"), shown), encoding="utf-8")
    sys.stdout.write(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
