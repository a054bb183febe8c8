"""Times and names of a server whose clock and chance are given."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from celadon.apiserver.server_core import Sources
from celadon.kube.well_known_values import SUFFIX_LETTERS

NOW = datetime(2026, 3, 1, 12, 30, 5, 999_999, tzinfo=UTC)


def test_times_are_those_of_the_clock() -> None:
    sources = Sources(now=lambda: NOW)
    assert sources.timestamp() == "2026-03-01T12:30:05Z"
    assert sources.seconds() == NOW.timestamp()


def test_suffixes_are_five_letters_that_chance_takes() -> None:
    first = [Sources(randomness=random.Random(7)).suffix() for _ in range(2)]
    assert first[0] == first[1]
    many = {Sources().suffix() for _ in range(50)}
    assert len(many) > 40
    assert {len(one) for one in many} == {5}
    assert set("".join(many)) <= set(SUFFIX_LETTERS)


def test_suffixes_are_the_digits_of_a_number() -> None:
    number, text = random.Random(7).getrandbits(64), ""
    for _ in range(5):
        number, digit = divmod(number, len(SUFFIX_LETTERS))
        text += SUFFIX_LETTERS[digit]
    assert Sources(randomness=random.Random(7)).suffix() == text


def test_uids_are_not_given_twice() -> None:
    sources = Sources()
    assert sources.uid() != sources.uid()
