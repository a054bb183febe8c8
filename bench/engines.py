"""Celadon as the benchmarks use it: one environment, the variables of policies."""

from __future__ import annotations

from typing import Final

from celadon.cel import Environment, Program, types
from celadon.kube.library import environment

VARIABLES: Final = ("object", "oldObject", "params")


def celadon_environment() -> Environment:
    return environment("1.36").extend(dict.fromkeys(VARIABLES, types.DYN))


def celadon_program(env: Environment, expression: str) -> Program:
    return env.program(env.compile(expression).checked())
