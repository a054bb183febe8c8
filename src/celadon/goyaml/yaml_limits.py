"""How deep a document may nest, and how much of it may come from aliases.

A kilobyte of YAML can ask for the memory of a data centre; here it is refused.
"""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 10_000
"""Nested flow collections, and nested indentations, in one document (go-yaml `scannerc.go`)."""

MAX_QUICK_FLOWS: Final = 500
"""Nested flow collections that libyaml may read: before each token it looks at every one of them,
and from some 2,500 on it is slower than `flow_parser`."""

UNCOUNTED_LEVELS: Final = 100
"""Open collections up to which nobody counts of which sort they are: no limit is so low."""

MAX_QUICK_TAG_DIRECTIVES: Final = 100
"""`%TAG` lines that libyaml may read: it compares each with all before it."""

ALIAS_FREE_COUNT: Final = 100
"""Values reached through YAML aliases that are never questioned."""

ALIAS_SMALL_DOCUMENT: Final = 1000
"""Values in a document below which aliases are never questioned."""

ALIAS_RATIO_LOW: Final = 400_000
"""Values in a document up to which 99 of 100 may come from aliases (as go-yaml `decode.go`)."""

ALIAS_RATIO_HIGH: Final = 4_000_000
"""Values in a document from which only 10 of 100 may come from aliases; in between, a line."""
