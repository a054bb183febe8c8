"""The expressions of a policy, compiled: what tracebacks call them, and why they cannot run."""

from __future__ import annotations

import pytest

from celadon.admission import decision_source
from celadon.admission.compiled_expressions import (
    ANY_RESULT,
    BOOL_RESULT,
    PolicyScope,
    compile_expression,
)
from celadon.admission.decision_source import WHOLE, Source
from celadon.cel.extend import types
from celadon.kube import FieldPath
from celadon.kube.go import trim_space
from celadon.kube.library import environment

PATCH = Source(FieldPath("spec").child("mutations").index(1).child("jsonPatch", "expression"))


def scope() -> PolicyScope:
    return PolicyScope("1.36", has_params=False, has_variables=True, owner="keep-order")


def test_programs_are_called_by_policy_and_field() -> None:
    validation = scope().compile("true", source=decision_source.validation(2))
    variable = scope().declare("v", "1", source=decision_source.variable(0))
    mutation = scope().mutation("[JSONPatch{op: 'add'}]", ANY_RESULT, source=PATCH)
    named = [one.program.name for one in (validation, variable, mutation) if one.program]
    assert named == [
        "keep-order validations[2]",
        "keep-order variables[0]",
        "keep-order mutations[1]",
    ]


def test_programs_of_nobody_are_expressions() -> None:
    found = compile_expression(environment(), "1 + 1")
    assert found.program is not None
    assert found.program.name == "expression"
    assert (found.type, found.source, found.detail) == (types.INT, WHOLE, "")


@pytest.mark.parametrize(
    ("text", "allowed", "detail", "internal"),
    [
        ("1", BOOL_RESULT, "must evaluate to bool but got int", False),
        (
            "1",
            (types.BOOL, types.STRING),
            "must evaluate to one of [bool string] but got int",
            False,
        ),
        (
            "nope",
            BOOL_RESULT,
            "compilation failed: ERROR: <input>:1:1: undeclared reference",
            False,
        ),
        ("int('x') == 1", BOOL_RESULT, "program instantiation failed: ", True),
    ],
)
def test_broken_expressions(
    text: str, allowed: tuple[types.Type, ...], detail: str, internal: bool
) -> None:
    found = compile_expression(environment(), text, allowed, PATCH)
    assert found.program is None
    assert found.error is not None
    assert found.detail.startswith(detail)
    assert found.error.internal is internal
    assert found.source == PATCH
    assert bool(found.error.issues) is detail.startswith("compilation")


def test_a_broken_variable_is_of_any_type() -> None:
    names = scope()
    assert names.declare("v", "nope").detail
    assert names.compile("variables.v == 1 || variables.v == 'a'").detail == ""


def test_white_space_is_what_go_takes_for_it() -> None:
    assert trim_space("\u2003 \t\n a\u200b ") == "a\u200b"
