"""How large and how broken an expression may be (cel-go `parser/options.go`, `parser/parser.go`).

The numbers are cel-go's defaults, which Kubernetes does not change; only the last has no model.
"""

from __future__ import annotations

from typing import NamedTuple


class ParseLimits(NamedTuple):
    #: Longest source, in code points.
    code_points: int = 100_000
    #: Open invocations of one grammar rule, and (counted apart) nesting while the tree is built.
    recursion: int = 250
    #: Syntax errors reported; the next one ends the parse.
    syntax_errors: int = 100
    #: Times the parser tries to go on after a syntax error.
    recovery_attempts: int = 30
    #: Tokens skipped in one such attempt.
    recovery_lookahead: int = 256
    #: Nodes that macros may copy (`optMap` copies its target, so chains of it double each time).
    #: cel-go has no such limit and runs out of memory instead.
    copied_nodes: int = 200_000


def source_too_long(size: int, limit: int) -> str:
    return f"expression code point size exceeds limit: size: {size}, limit {limit}"


def rules_too_deep(limit: int) -> str:
    return f"expression recursion limit exceeded: {limit}"


def tree_too_deep() -> str:
    return "max recursion depth exceeded"


def too_many_syntax_errors(limit: int) -> str:
    return f"More than {limit} syntax errors"


def too_many_recoveries(limit: int) -> str:
    return f"error recovery attempt limit exceeded: {limit}"


def recovery_too_long(limit: int) -> str:
    return f"error recovery token lookahead limit exceeded: {limit}"


def too_many_copies(limit: int) -> str:
    return f"macro expansion exceeds limit: {limit} copied nodes"
