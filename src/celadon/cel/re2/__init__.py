r"""Regular expressions as Kubernetes has them: RE2 syntax, Go's errors, linear time.

`compile(pattern)` gives a `Pattern` or raises `RegexError`, whose text is Go's. Positions are code
points. To read the package, start with `pattern_parser` (patterns to trees), then `automaton`
(trees to automata) and `dfa` (running them), then `pattern` (which way a pattern is run).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from celadon.cel.re2.pattern_tree import RegexError

if TYPE_CHECKING:
    from celadon.cel.re2.pattern import Pattern as Pattern

__all__ = ["RegexError", "compile"]

_MAX_CACHED_LENGTH = 500
"""Patterns from requests can be long and never come back; those from policies are short."""
_MOST_KEPT = 1_000_000
"""Characters of the long patterns that are kept, together: those of one hostile input, in which
each is asked for several times. Compiled they take some seventy bytes for each."""
_LONG: dict[str, Pattern] = {}


# A policy of one megabyte may have thousands of patterns; those of most clusters are far fewer.
@lru_cache(maxsize=1024)
def _compile_cached(pattern: str) -> Pattern:
    return _compiled(pattern)


def _compile_long(pattern: str) -> Pattern:
    long = _LONG.get(pattern)
    if long is None:
        long = _LONG[pattern] = _compiled(pattern)
        while len(_LONG) > 1 and sum(map(len, _LONG)) > _MOST_KEPT:
            _LONG.pop(next(iter(_LONG)), None)
    return long


def compile(pattern: str) -> Pattern:
    """Compile a pattern. Raises `RegexError`."""
    if len(pattern) > _MAX_CACHED_LENGTH:
        return _compile_long(pattern)
    return _compile_cached(pattern)


def _compiled(pattern: str) -> Pattern:
    # late: the engine is a sixth of the weight of `import celadon.cel`, and many policies have no
    # pattern in them.
    from celadon.cel.re2.pattern import Pattern

    return Pattern(pattern)
