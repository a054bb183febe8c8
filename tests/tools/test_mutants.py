"""The mistakes that the tool of mutation testing makes, and those it leaves out with a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.mutants.__main__ import in_order_of_lots
from tools.mutants.mutations import Mutation, mutations
from tools.mutants.relevant_tests import Relevance
from tools.mutants.replaced_code import is_replaceable

from tests.paths import ROOT

EQUIVALENT = [
    line
    for line in (ROOT / "tools" / "mutants" / "equivalent.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def of_module(name: str) -> list[Mutation]:
    path = ROOT.joinpath("src", *name.split(".")).with_suffix(".py")
    return list(mutations(name, path.read_text(encoding="utf-8")))


@pytest.mark.thorough
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

Way = Literal["up", "down"]
T = TypeVar("T", bound="Kind")

class Shape(TypedDict, total=False):
    size: "int"

threading.Thread(target=run, name="runner", args=(cast("Kind", 4),))
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
        "m (module): threading.Thread(target=run, name='runner', args=(cast('Kind', 4),)) -> pass",
        "m (module): 4 -> 5",
    ]
    assert str(next(mutations("m", SOURCE))) == "m:3 LIMIT: 7 -> 8"


def test_equal_mistakes_of_a_function_are_drawn_one_by_one() -> None:
    source = "def f():\n    return " + " + ".join("g(0)" for _ in range(20))
    every = [*mutations("m", source), *mutations("n", "x = 1\n" * 20)]
    numbers = [one.number for one in in_order_of_lots(every, 1) if one.change == "0 -> 1"]
    assert len(numbers) == 20
    assert {one.change for one in in_order_of_lots(every, 1)[:20]} > {"0 -> 1"}
    assert in_order_of_lots(every, 1) != in_order_of_lots(every, 2)


def test_which_tests_are_tried() -> None:
    """Those that run the line, the nearest first; then those that run others of its module."""
    own, beside, far = "tests/cli/test_fmt.py", "tests/cli/test_diff.py", "tests/cel/test_a.py"
    relevance = Relevance(
        lines={"celadon.cli.fmt": {7: [f"{far}::f", f"{own}::slow", f"{own}::quick"], 8: []}},
        modules={"celadon.cli.fmt": {f"{far}::f", f"{own}::slow", f"{own}::quick", f"{beside}::b"}},
        seconds={f"{far}::f": 1, f"{own}::slow": 2, f"{own}::quick": 1, f"{beside}::b": 1},
    )
    at_7 = [f"{own}::quick", f"{own}::slow", f"{far}::f"]
    module = "celadon.cli.fmt"
    assert relevance.of(module, [(module, 7, 7)], 9) == [*at_7, f"{beside}::b"]
    assert relevance.of(module, [(module, 8, 8)], 9) == [*at_7[:2], f"{beside}::b", at_7[2]]
    assert relevance.of(module, [(module, 7, 7)], 3) == [*at_7[:2], f"{beside}::b", at_7[2]]
    assert relevance.of(module, [], 9, files=1) == [*at_7[:2], f"{beside}::b"]
    names_it = relevance.of(module, [(module, 8, 8)], 9, own=[far])
    assert names_it == [*at_7[:2], f"{far}::f", f"{beside}::b"]


def test_a_closure_that_loses_a_variable_is_made_anew(tmp_path: Path) -> None:
    """Python refuses to replace its code; that is no test that fails."""
    path = tmp_path / "m.py"
    source = "def f(x):\n    def g(y):\n        y = y + 1\n        return x\n    return g\n"
    path.write_text(source, encoding="utf-8")
    replaceable = {
        one.change: is_replaceable(path, one.line, one.number) for one in mutations("m", source)
    }
    assert replaceable == {
        "y + 1 -> y - 1": True,
        "1 -> 2": True,
        "return x -> return None": False,
        "return g -> return None": True,
    }
