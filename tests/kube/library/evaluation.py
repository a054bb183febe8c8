"""Evaluating an expression as release 1.36 does, in tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

from celadon.cel import types
from celadon.cel.environment import Environment
from celadon.cel.errors import EvaluationError
from celadon.cel.program import Program
from celadon.kube.library.costs import AUTHORIZER, RESOURCE_CHECK
from celadon.kube.library.environments import environment


@cache
def scope() -> Environment:
    """With `object` and both authorizer variables."""
    return environment(has_patch_types=True).extend(
        {
            "object": types.DYN,
            "authorizer": AUTHORIZER,
            "authorizer.requestResource": RESOURCE_CHECK,
        }
    )


def program(expression: str, *, fold: bool = True) -> Program:
    env = scope() if fold else scope().with_switches(fold_constants=False)
    return env.program(env.compile(expression).checked())


def evaluate(expression: str, **variables: Any) -> Any:
    """The value; the plain and the metered variant agree on it."""
    loaded = program(expression)
    value, _ = loaded.evaluate_metered(variables)
    plain = loaded.evaluate(variables)
    assert plain.__class__ is value.__class__
    return plain


def failure(expression: str, **variables: Any) -> str:
    """The text of the error."""
    loaded = program(expression)
    with pytest.raises(EvaluationError) as caught:
        loaded.evaluate(variables)
    return caught.value.message


def cost(expression: str, *, fold: bool = True, **variables: Any) -> int:
    """What is charged, for a value or for an error; all variants agree on it."""
    loaded = program(expression, fold=fold)
    charged = _charged(partial(loaded.evaluate_metered, variables))
    assert _charged(partial(loaded.evaluate_exactly, variables)) == charged
    return charged


def _charged(evaluate: Callable[[], tuple[Any, int]]) -> int:
    try:
        return evaluate()[1]
    except EvaluationError as error:
        return error.cost or 0


def estimate(expression: str) -> tuple[int, int]:
    env = scope()
    found = env.estimate(env.compile(expression).checked())
    return found.min, found.max
