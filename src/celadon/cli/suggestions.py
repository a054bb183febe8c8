"""`did you mean`: the closest of some names."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """`, did you mean …?` with the most similar name, or nothing."""
    import difflib  # loaded only when something is wrong

    lowered = {name.lower(): name for name in names}
    found = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return f", did you mean `{lowered[found[0]]}`?" if found else ""
