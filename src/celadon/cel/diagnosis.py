"""Placeholder until the faithful parser is here: says that something is wrong, not what."""

from __future__ import annotations

from celadon.cel.issues import Issues
from celadon.cel.parse_options import ParseOptions
from celadon.cel.source import Source
from celadon.cel.syntax import Ast


def diagnose(source: Source, options: ParseOptions, issues: Issues) -> Ast | None:
    issues.add("Syntax error", None)
    return None
