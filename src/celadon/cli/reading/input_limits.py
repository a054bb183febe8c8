"""How much a file may contain, and why not more.

Every limit answers the question "what would this input do to the person who runs the command":
without them a kilobyte of YAML can ask for the memory of a data centre.
"""

from __future__ import annotations

from typing import Final

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""Bytes of one file or of standard input. Larger inputs are better split than loaded at once."""

MAX_DOCUMENT_CHARACTERS: Final = 3 * 1024 * 1024
"""Characters of one object. kube-apiserver refuses request bodies over 3 MiB (3145728 bytes)."""

MAX_LIST_CHARACTERS: Final = 64 * 1024 * 1024
"""Characters of one document whose kind ends in `List`; its items are objects of their own."""

MAX_DEPTH: Final = 250
"""Nested maps and lists in one document. The API's own types stay below 40."""

ALIAS_FREE_COUNT: Final = 100
"""Values reached through YAML aliases that are never questioned."""

ALIAS_SMALL_DOCUMENT: Final = 1000
"""Values in a document below which aliases are never questioned."""

ALIAS_RATIO_LOW: Final = 400_000
"""Values in a document up to which 99 of 100 may come from aliases (as go-yaml `decode.go`)."""

ALIAS_RATIO_HIGH: Final = 4_000_000
"""Values in a document from which only 10 of 100 may come from aliases; in between, a line."""
