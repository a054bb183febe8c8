"""What is wrong with an expression, in cel-go's words.

Parses again, slowly, in the way of cel-go's generated parser (`celadon.cel.parsing.recovery`).
First come the errors of syntax; then, if parsing was not given up, the tree is read for other
errors.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.errors import Issues, Source
from celadon.cel.parsing.descent import ParseOptions
from celadon.cel.parsing.recovery.machine import Machine, ParseStopped
from celadon.cel.parsing.recovery.tree_reading import Reader
from celadon.cel.syntax import Ast
from celadon.patterns import late_pattern

_ESCAPED_EXPECTED: Final = late_pattern(", ESC_IDENTIFIER(?=})")
"""What is expected where names may stand in backticks; together with the name without."""


def diagnose(source: Source, options: ParseOptions, issues: Issues) -> Ast | None:
    """Adds the issues, or gives the tree if there are none. Raises `CopyLimitExceeded`."""

    def report_syntax_error(message: str, offset: int) -> None:
        if options.backticks_are_junk:
            message = _ESCAPED_EXPECTED.sub("", message)
        issues.add(f"Syntax error: {message}", offset)

    reader = Reader(options, issues.add)
    try:
        junk = "`" if options.backticks_are_junk else ""
        tree = Machine(source.text, options.limits, report_syntax_error, junk).parse()
        root = reader.read(tree)
    except ParseStopped as stopped:
        if stopped.message:
            issues.add(stopped.message, None)
        return None
    if issues:
        return None
    return Ast(root, source, reader.nodes.positions, reader.nodes.macro_calls)
