"""Late patterns answer as those that are compiled at once, and compile no sooner than asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from celadon.late_patterns import late_pattern

_TEXT = r"(?P<word>[a-z]+)-?"
_SUBJECT = "one-Two three-"
_USES: tuple[Callable[[Any], Any], ...] = (
    lambda pattern: pattern.findall(_SUBJECT),
    lambda pattern: [one["word"] for one in pattern.finditer(_SUBJECT, 2)],
    lambda pattern: pattern.fullmatch("one-").span(),
    lambda pattern: pattern.match(_SUBJECT, pos=1).group(),
    lambda pattern: pattern.search(_SUBJECT, 4).start(),
    lambda pattern: pattern.split(_SUBJECT, maxsplit=1),
    lambda pattern: pattern.sub(lambda found: found["word"].upper(), _SUBJECT, count=2),
    lambda pattern: pattern.pattern,
)


@pytest.mark.parametrize("flags", [re.NOFLAG, re.IGNORECASE | re.ASCII])
@pytest.mark.parametrize("use", _USES)
def test_answers_as_a_compiled_pattern(use: Callable[[Any], Any], flags: re.RegexFlag) -> None:
    late, compiled = late_pattern(_TEXT, flags), re.compile(_TEXT, flags)
    assert use(late) == use(compiled)
    for again in _USES:
        assert again(late) == again(compiled)


def test_bytes() -> None:
    assert late_pattern(rb"[0-9]+").findall(b"1 22") == [b"1", b"22"]


def test_compiles_at_its_first_use_and_then_no_more() -> None:
    wrong = late_pattern("(")
    with pytest.raises(re.error):
        wrong.match("")
    late = late_pattern("a")
    late.match("a")
    assert late.match == re.compile("a").match
