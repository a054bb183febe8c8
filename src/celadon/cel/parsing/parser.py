"""Source to tree.

Two parsers give the same trees. `recursive_descent` is for expressions without errors: it is quick
and knows no messages. When it gives up, `diagnosis` parses again the way cel-go's generated parser
does, slowly, to say what is wrong in the very same words and at the very same positions.
"""

from __future__ import annotations

from celadon.cel.errors import Issues, Source
from celadon.cel.parsing.macros import CopyLimitExceeded
from celadon.cel.parsing.recursive_descent import (
    ParseOptions,
    descend,
    source_too_long,
    too_many_copies,
)
from celadon.cel.syntax import Ast

__all__ = ["ParseOptions", "parse"]


def parse(source: Source, options: ParseOptions) -> tuple[Ast | None, Issues]:
    """Return the tree, or None and what is wrong."""
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
    from celadon.cel.parsing.diagnosis import diagnose

    return diagnose(source, options, issues)
