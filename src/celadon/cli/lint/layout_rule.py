"""CEL098: expressions that are not in the layout of `celadon fmt`.

The one rule that is asked only by its name or its code: who does not use `celadon fmt` need not
hear of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.admission.lint import Rule, Severity
from celadon.cli.fmt import text_layout
from celadon.cli.lint.lint_report import LocatedFinding
from celadon.cli.reading.sources import Text
from celadon.kube import FieldPath, metadata

_BAD: Final = """\
validations:
- expression: object.spec.replicas<=5&&object.spec.paused
"""
_GOOD: Final = """\
validations:
- expression: object.spec.replicas <= 5 && object.spec.paused
"""

UNFORMATTED: Final = Rule(
    "CEL098",
    "unformatted",
    Severity.INFO,
    "An expression is not in the layout that `celadon fmt` gives it. This rule speaks only where "
    "it is selected by its name or its whole code.",
    _BAD,
    _GOOD,
    lambda _: (),  # it is about files
)


def is_asked(select: Sequence[str]) -> bool:
    """Return whether a selection of rules names it."""
    return UNFORMATTED.name in select or UNFORMATTED.code in select


def unformatted(text: Text, width: int, lines: Sequence[str]) -> Iterator[LocatedFinding]:
    """The expressions of a text that are not in their layout."""
    for one in text_layout(text, width).misplaced:
        line, column = one.document.chunk.spot((*one.document.path, *one.path))
        value = one.document.value
        yield LocatedFinding(
            UNFORMATTED.code,
            UNFORMATTED.name,
            UNFORMATTED.severity,
            text.file,
            line,
            column,
            FieldPath(*one.path).text,
            f"{value['kind']} {metadata.name(value)}".rstrip(),
            "this expression is not in its layout",
            "`celadon fmt` puts it there",
            line_text=lines[line - 1],
        )
