"""A short search of every reader, and the search itself: it finds what was planted."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable

import pytest

from celadon.kube.selectors import SelectorError, parse_label_selector
from tests.fuzz import guided
from tests.fuzz.byte_reader import ByteReader
from tests.fuzz.byte_readers import READERS
from tests.fuzz.fast_search import FastSearch
from tests.fuzz.guided_search import search, wrong_with

INPUTS = 80
"""For each reader: some seconds for all of them."""


@pytest.mark.thorough
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_readers_bear_what_is_found(reader: ByteReader) -> None:
    assert [one for one in search(reader, 1, INPUTS) if one is not None] == []


def planted(data: bytes) -> None:
    """Fails for a set of values, which only the grammar leads to."""
    found = parse_label_selector(data.decode("latin-1"))
    if any(len(one.values) > 1 for one in found.requirements):
        raise LookupError


PLANTED = ByteReader("planted", planted, (SelectorError,), (b"a",), (b" in (", b"b,", b"c)"))


@pytest.mark.thorough
def test_a_planted_mistake_is_found_and_made_small() -> None:
    finds = [one for one in search(PLANTED, 1, 5000) if one is not None]
    assert [one.wrong for one in finds] == ["LookupError at "]
    assert wrong_with(PLANTED, finds[0].data)
    assert len(finds[0].data) <= 12


@pytest.mark.thorough
def test_a_planted_mistake_is_found_at_full_speed() -> None:
    search = FastSearch(PLANTED, 1)
    search.run(20_000, math.inf)
    assert [*search.finds] == ["LookupError at "]
    assert wrong_with(PLANTED, search.finds["LookupError at "])
    assert search.branches > 10


def hanging(data: bytes) -> None:
    """For some inputs it goes on for ever."""
    while data.startswith(b"aa"):
        pass


def greedy(data: bytes) -> None:
    """For some inputs it takes more memory than the process ever had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    assert b"x" * (data.count(b"a") * (most + (80 << 20))) is not data


@pytest.mark.parametrize(
    ("read", "seconds", "seed", "wrong"),
    [
        (hanging, 0.05, b"aa", "more than 0.05 s of processor time"),
        (greedy, 60.0, b"a", "more than 64 MiB of memory"),
    ],
)
@pytest.mark.thorough
def test_too_much_time_or_memory_is_found_at_full_speed(
    read: Callable[[bytes], None],
    seconds: float,
    seed: bytes,
    wrong: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.fuzz.fast_search.MOST_SECONDS", seconds)
    search = FastSearch(ByteReader("bad", read, (), (b"b", seed)), 1)
    search.run(2, math.inf)
    assert [*search.finds] == [wrong]


def endless(data: bytes) -> None:
    """Work that is more than linear."""
    for _ in range(10_000):
        parse_label_selector(data.decode("latin-1"))


def test_too_much_work_is_found() -> None:
    reader = ByteReader("endless", endless, (SelectorError,), (b"a,b,c",))
    finds = [one for one in search(reader, 1, 2) if one is not None]
    assert [one.wrong for one in finds] == ["more than 2000 lines run for each byte"]


def test_the_same_seed_finds_the_same() -> None:
    reader = next(one for one in READERS if one.name == "label-selector")
    tried: list[list[bytes]] = []
    for _ in range(2):
        seen: list[bytes] = []
        noting = ByteReader(reader.name, seen.append, (), reader.seeds, reader.words)
        list(search(noting, 7, 50))
        tried.append(seen)
    assert tried[0] == tried[1]
    assert len(set(tried[0])) > 10


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert guided.main(["quantity", "--inputs", "20"]) == 0
    assert capsys.readouterr().out == "quantity: 20 inputs, 0 finds\n"
