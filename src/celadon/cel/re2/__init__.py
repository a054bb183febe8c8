r"""Regular expressions as Kubernetes has them: RE2 syntax, Go's errors, linear time.

`compile(pattern)` gives a `Pattern` or raises `RegexError`, whose text is Go's. Positions are code
points. To read the package, start with `parser` (patterns to trees), then `program` (trees to
automata) and `dfa` and `pike` (running them), then `pattern` (which way a pattern is run).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from celadon.cel.re2.pattern_errors import RegexError

if TYPE_CHECKING:
    from celadon.cel.re2.pattern import Pattern as Pattern

__all__ = ["RegexError", "compile"]

# Patterns from requests can be long and never come back; those from policies are short. Of the long
# ones only the last is kept, for it is mostly asked for several times in a row: is it one at all,
# does a text match it.
_MAX_CACHED_LENGTH = 2000


# A policy of one megabyte may have thousands of patterns; those of most clusters are far fewer.
@lru_cache(maxsize=1024)
def _compile_cached(pattern: str) -> Pattern:
    return _compiled(pattern)


@lru_cache(maxsize=1)
def _compile_long(pattern: str) -> Pattern:
    return _compiled(pattern)


def compile(pattern: str) -> Pattern:
    """Raises `RegexError`."""
    if len(pattern) > _MAX_CACHED_LENGTH:
        return _compile_long(pattern)
    return _compile_cached(pattern)


def _compiled(pattern: str) -> Pattern:
    # late: the engine is a sixth of the weight of `import celadon.cel`, and many policies have no
    # pattern in them.
    from celadon.cel.re2.pattern import Pattern

    return Pattern(pattern)
