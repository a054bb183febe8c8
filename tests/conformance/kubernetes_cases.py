"""Cases that a kube-apiserver 1.36 answered: value, cost, texts, estimate, to the letter."""

from __future__ import annotations

from functools import cache
from typing import Any

from celadon import cel
from celadon.kube.library.environments import environment
from tests.conformance.grading import Grades
from tests.conformance.tagged import Tagged, encode, same

VERSION = "1.36"
VARIABLES = ("object", "oldObject", "params", "self", "x", "y", "z")
#: The limit of a single evaluation in Kubernetes.
COST_LIMIT = 1_000_000
_INT64 = range(-(1 << 63), 1 << 63)


@cache
def kubernetes_environment() -> cel.Environment:
    return environment(VERSION).extend(dict.fromkeys(VARIABLES, cel.types.DYN))


def run(case: dict[str, Any]) -> Grades:
    grades = Grades()
    env = kubernetes_environment()
    compilation = env.compile(case["expr"])
    if compilation.ast is None:
        got = "compile error"
        grades.give("class", got=got, want=expected_class(case))
        if "compile_error" in case:
            text = compilation.issues.display()
            grades.give("text", got=text, want=case["compile_error"])
        else:
            grades.notes.append(compilation.issues.display())
        return grades
    checked = compilation.ast
    if "checked_type" in case:
        grades.give("type", got=str(checked.type), want=case["checked_type"])
        estimated = env.estimate(checked)
        got_range = [str(estimated.min), str(estimated.max)]
        grades.give("estimate", got=got_range, want=case["estimated_cost"])
    try:
        program = env.program(checked)
    except cel.ProgramError as error:
        grades.give("class", got="program error", want=expected_class(case))
        if "program_error" in case:
            grades.give("text", got=str(error), want=case["program_error"])
        return grades
    activation = {name: from_json(value) for name, value in case.get("vars", {}).items()}
    _evaluate(program, activation, case, grades)
    return grades


def expected_class(case: dict[str, Any]) -> str:
    for key in ("compile_error", "program_error", "error"):
        if key in case:
            return key.replace("_", " ")
    return "value"


def _evaluate(
    program: cel.Program, activation: dict[str, Any], case: dict[str, Any], grades: Grades
) -> None:
    want = expected_class(case)
    outcome: Tagged
    try:
        value, cost = program.evaluate_metered(activation, COST_LIMIT)
        outcome = encode(value)
        grades.give("class", got="value", want=want)
        if want == "value":
            grades.give(
                "value", got=outcome, want=case["value"], agrees=same(outcome, case["value"])
            )
        else:
            grades.notes.append(f"want {case.get(want.replace(' ', '_'))}\n      got  {outcome}")
    except cel.EvaluationError as error:
        cost = error.cost if error.cost is not None else -1
        outcome = {"error": error.message}
        grades.give("class", got="error", want=want)
        if want == "error":
            grades.give("text", got=error.message, want=case["error"])
        else:
            grades.notes.append(f"want {case.get(want.replace(' ', '_'))}\n      got  {outcome}")
        if isinstance(error, cel.CostLimitExceeded):
            _grade_cost(cost, case, grades)
            return
    _grade_cost(cost, case, grades)
    for one in (program, program.prepare()):  # interpreted, and generated
        plain = _plain_outcome(one, activation)
        grades.give("plain", got=plain, want=outcome, agrees=same(plain, outcome))


def _grade_cost(cost: int, case: dict[str, Any], grades: Grades) -> None:
    if "cost" in case:
        grades.give("cost", got=str(cost), want=str(case["cost"]))


def _plain_outcome(program: cel.Program, activation: dict[str, Any]) -> Tagged:
    """What the variant without accounting gives; it must be the same."""
    try:
        return encode(program.evaluate(activation))
    except cel.EvaluationError as error:
        return {"error": error.message}


def from_json(value: Any) -> Any:
    """JSON as the server decodes it: integers that fit are ints, all other numbers doubles."""
    match value:
        case bool() | None | str():
            return value
        case int():
            return value if value in _INT64 else float(value)
        case list():
            return [from_json(item) for item in value]
        case dict():
            return {key: from_json(item) for key, item in value.items()}
    return value
