"""A user's name never meets one of ours: loop variables may be called anything."""

from __future__ import annotations

import builtins
import keyword

import pytest

from celadon.cel import types
from celadon.cel.parsing.tokens import RESERVED
from celadon.kube.library.environments import environment

OURS = ("self", "names", "node", "lazy", "cls", "activation", "variables", "meter", "e", "t1")
LOOKALIKES = [name for name in (*OURS, *keyword.kwlist, *dir(builtins)) if name not in RESERVED]
FEW = [name for name in (*OURS, "None", "len", "print") if name not in RESERVED]
MACROS = """\
[1, 2].all(NAME, NAME > 0)
[1, 2].exists(NAME, NAME > 1)
[1, 2].exists_one(NAME, NAME > 1)
[1, 2].map(NAME, NAME + 1)
[1, 2].map(NAME, NAME > 1, NAME + 1)
[1, 2].filter(NAME, NAME > 1)
{'a': 1}.transformMap(NAME, other, NAME + 'b')
{'a': 1}.transformList(other, NAME, NAME + 1)
[1, 2].all(NAME, other, NAME < other)
optional.of(1).optMap(NAME, NAME + 1).value()
optional.of(1).optFlatMap(NAME, optional.of(NAME + 1)).value()
[[1], [2]].map(NAME, NAME.map(other, other + NAME[0]))
""".splitlines()
ENVIRONMENT = environment("1.36").extend({"self": types.DYN})


def answers(expression: str) -> tuple[object, object]:
    """Of the plain and the metered variant."""
    program = ENVIRONMENT.program(ENVIRONMENT.compile(expression).checked()).prepare()
    return program.evaluate({"self": 1}), program.evaluate_metered({"self": 1})[0]


@pytest.mark.parametrize(
    ("macro", "lookalikes"),
    [
        (MACROS[0], LOOKALIKES),
        *((macro, FEW) for macro in MACROS[1:]),
        *(pytest.param(macro, LOOKALIKES, marks=pytest.mark.thorough) for macro in MACROS[1:]),
    ],
)
def test_loop_variables(macro: str, lookalikes: list[str]) -> None:
    wanted = answers(macro.replace("NAME", "x"))
    for name in lookalikes:
        assert answers(macro.replace("NAME", name)) == wanted, name
