"""How large and how broken an expression may be (cel-go `parser/options.go`, `parser/parser.go`).

The numbers are cel-go's defaults, which Kubernetes does not change; only the last has no model.
"""

from __future__ import annotations

from typing import NamedTuple


class ParseLimits(NamedTuple):
    """What a parser takes before it gives up; the defaults are cel-go's and kube-apiserver's."""

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
    """The source has more code points than `ParseLimits.code_points`; it is not parsed."""
    return f"expression code point size exceeds limit: size: {size}, limit {limit}"


def rules_too_deep(limit: int) -> str:
    """More than `ParseLimits.recursion` invocations of one grammar rule are open."""
    return f"expression recursion limit exceeded: {limit}"


def tree_too_deep() -> str:
    """The parse tree nests more deeply than `ParseLimits.recursion` where it is read."""
    return "max recursion depth exceeded"


def too_many_syntax_errors(limit: int) -> str:
    """One syntax error more than `ParseLimits.syntax_errors`."""
    return f"More than {limit} syntax errors"


def too_many_recoveries(limit: int) -> str:
    """One recovery more than `ParseLimits.recovery_attempts`."""
    return f"error recovery attempt limit exceeded: {limit}"


def recovery_too_long(limit: int) -> str:
    """One recovery would skip more tokens than `ParseLimits.recovery_lookahead` allows."""
    return f"error recovery token lookahead limit exceeded: {limit}"


def too_many_copies(limit: int) -> str:
    """Macros that repeat their arguments made more nodes than `ParseLimits.copied_nodes`."""
    return f"macro expansion exceeds limit: {limit} copied nodes"
