"""Source to tree.

Two parsers give the same trees. `descent` is for expressions without errors: it is quick and knows
no messages. When it gives up, `diagnosis` parses again the way cel-go's generated parser does,
slowly, to say what is wrong in the very same words and at the very same positions.
"""

from __future__ import annotations

from celadon.cel.errors import Issues, Source
from celadon.cel.parsing.descent import ParseOptions, descend, source_too_long, too_many_copies
from celadon.cel.parsing.macros import CopyLimitExceeded
from celadon.cel.parsing.recovery.machine import Machine, ParseStopped
from celadon.cel.parsing.recovery.tree_reading import Reader
from celadon.cel.syntax import Ast


def parse(source: Source, options: ParseOptions) -> tuple[Ast | None, Issues]:
    """The tree, or None and what is wrong."""
    issues = Issues(source)
    size, limit = len(source.text), options.limits.code_points
    if size > limit:
        issues.add(source_too_long(size, limit), None)
        return None, issues
    try:
        ast = descend(source, options) or _diagnose(source, options, issues)
    except CopyLimitExceeded:
        issues.add(too_many_copies(options.limits.copied_nodes), None)
        return None, issues
    return ast, issues


def _diagnose(source: Source, options: ParseOptions, issues: Issues) -> Ast | None:
    # late: the slow parser and its tables weigh as much as a seventh of the room, and who makes no
    # mistake never needs them.

    return diagnose(source, options, issues)


# --- Diagnosis ---------------------------------------------------------------
#
# What is wrong with an expression, in cel-go's words.
#
# Parses again, slowly, in the way of cel-go's generated parser
# (`celadon.cel.parsing.recovery`). First come the errors of syntax; then, if parsing was not
# given up, the tree is read for other errors.


def diagnose(source: Source, options: ParseOptions, issues: Issues) -> Ast | None:
    """Adds the issues, or gives the tree if there are none. Raises `CopyLimitExceeded`."""

    def report_syntax_error(message: str, offset: int) -> None:
        issues.add(f"Syntax error: {message}", offset)

    reader = Reader(options, issues.add)
    try:
        tree = Machine(source.text, options.limits, report_syntax_error).parse()
        root = reader.read(tree)
    except ParseStopped as stopped:
        if stopped.message:
            issues.add(stopped.message, None)
        return None
    if issues:
        return None
    return Ast(root, source, reader.nodes.positions, reader.nodes.macro_calls)
