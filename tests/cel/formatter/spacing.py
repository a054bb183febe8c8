"""Expressions with other white space, or comments, between their tokens."""

from __future__ import annotations

from hypothesis import strategies as st

from celadon.cel.formatter import commented_tokens

spaces = st.lists(st.sampled_from([" ", "  ", "\n", "\t", " \n\n "]), min_size=1)
comments = st.lists(
    st.sampled_from([" ", "\n", " // one\n", "\n// two: #\n", " //three\n\n //four\n"]), min_size=1
)


def spaced(text: str, gaps: list[str]) -> str:
    """The tokens of an expression, each with one of the gaps behind it."""
    found = commented_tokens(text)
    assert found is not None
    words = [one.text for one in found if one.text]
    return "".join(word + gaps[i % len(gaps)] for i, word in enumerate(words))
