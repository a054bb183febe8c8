"""The mistakes that the tool of mutation testing makes, and those it leaves out with a reason."""

from __future__ import annotations

import re

import pytest
from tools.mutants.mutations import Mutation, mutations

from tests.paths import ROOT

EQUIVALENT = [
    line
    for line in (ROOT / "tools" / "mutants" / "equivalent.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def of_module(name: str) -> list[Mutation]:
    path = ROOT.joinpath("src", *name.split(".")).with_suffix(".py")
    return list(mutations(name, path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("line", EQUIVALENT)
def test_what_is_left_out_is_there(line: str) -> None:
    """A line that matches nothing any more has to go."""
    pattern = re.compile(re.escape(line).replace(r"\*", ".*"))
    assert [one for one in of_module(line.partition(" ")[0]) if pattern.fullmatch(one.key)]


SOURCE = '''
"""Text."""
LIMIT: Final = 7

class Kind:
    NAME = "n"

    def is_small(self, size: int = 3) -> bool:
        """Text."""
        return size < LIMIT and not self.large

assert_never(0)
zip(this, that, strict=True)
'''


def test_what_mistakes_there_are() -> None:
    assert [one.key for one in mutations("m", SOURCE)] == [
        "m LIMIT: 7 -> 8",
        "m Kind: 'n' -> 'nXX'",
        "m is_small: 3 -> 4",
        "m is_small: return size < LIMIT and (not self.large) -> return None",
        "m is_small: size < LIMIT and (not self.large) -> size < LIMIT or not self.large",
        "m is_small: size < LIMIT -> size <= LIMIT",
        "m is_small: not self.large -> self.large",
        "m (module): zip(this, that, strict=True) -> pass",
    ]
    assert str(next(mutations("m", SOURCE))) == "m:3 LIMIT: 7 -> 8"
