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
