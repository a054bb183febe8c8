"""The words of libyaml for what PyYAML's own parser says.

Where PyYAML has no libyaml (in a browser) it finds the same faults at the same places, and names
them otherwise. Clients know libyaml's words: go-yaml, which the API server reads with, has them.
"""

from __future__ import annotations

import re
from typing import Final

from celadon.patterns import late_pattern

_BLOCK_END: Final = "expected <block end>"
_IN_SEQUENCES: Final = "while parsing a block collection"
_WORDS: Final = (
    ("mapping values are not allowed here", "mapping values are not allowed in this context"),
    ("mapping keys are not allowed here", "mapping keys are not allowed in this context"),
    (
        "sequence entries are not allowed here",
        "block sequence entries are not allowed in this context",
    ),
    ("special characters are not allowed", "control characters are not allowed"),
    ("found unexpected document separator", "found unexpected document indicator"),
    ("expected the node content", "did not find expected node content"),
    ("expected ',' or ']'", "did not find expected ',' or ']'"),
    ("expected ',' or '}'", "did not find expected ',' or '}'"),
    ("expected '<document start>'", "did not find expected <document start>"),
    ("expected chomping or indentation", "did not find expected comment or line break"),
    ("expected a comment or a line break", "did not find expected comment or line break"),
    ("expected escape sequence of", "did not find expected hexdecimal number"),
    ("expected alphabetic", "did not find expected alphabetic or numeric character"),
    ("expected '>'", "did not find the expected '>'"),
    ("found unknown escape character", "found unknown escape character"),
    ("found undefined tag handle", "found undefined tag handle"),
    ("found duplicate YAML directive", "found duplicate %YAML directive"),
    ("found incompatible YAML document", "found incompatible YAML document"),
)
"""How a complaint begins, and what libyaml says."""
_CHARACTER: Final = late_pattern(r"found character .+ that cannot start any token", re.DOTALL)


def libyaml_words(problem: str, context: str | None = None) -> str:
    """Of a complaint, which may be libyaml's already; what is not known stays as it is."""
    if _CHARACTER.fullmatch(problem):
        return "found character that cannot start any token"
    if problem.startswith(_BLOCK_END):
        wanted = "'-' indicator" if context == _IN_SEQUENCES else "key"
        return f"did not find expected {wanted}"
    return next((words for start, words in _WORDS if problem.startswith(start)), problem)
