"""Expressions evaluated symbolically with inputs that are known: these are unknowns that are then
assumed to be what they are, so that the solver says what the expression comes to.

    python -m tests.prove.agreement PATH... [--show N]      # recorded ones
    python -m tests.prove.agreement --random FIRST COUNT    # random ones
    python -m tests.prove.agreement --unmodelled PATH...    # what is not modelled, for the docs
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import z3

from celadon.cel import CheckedAst, Environment, EvaluationError, ProgramError
from celadon.cel.extend import NONE, Optional
from celadon.kube import JsonObject
from celadon.prove.symbolic_evaluator import Evaluator
from celadon.prove.symbolic_functions import NOT_LITERAL, literal, native
from celadon.prove.symbolic_objects import Inputs
from celadon.prove.symbolic_values import (
    FAILS,
    Double,
    EngineCall,
    Entry,
    Int,
    Item,
    List,
    Map,
    Maybe,
    NotModelled,
    Outcome,
    Text,
    Truth,
    Uint,
    Value,
    certain,
)
from celadon.prove.uninterpreted_functions import Unmodelled
from tests.conformance.kubernetes_cases import from_json, kubernetes_environment
from tests.conformance.suite import case_files
from tests.conformance.tagged import encode, same
from tests.prove import random_cases


@dataclass
class Hidden:
    """Values behind unknowns."""

    assumed: list[Any] = field(default_factory=list)
    pairs: list[tuple[Any, Any]] = field(default_factory=list)
    ground: list[tuple[Any, Any]] = field(default_factory=list)
    """Calls of functions without a meaning for known arguments, and their results."""

    def eval(self, term: Any, *, model_completion: bool) -> Any:
        """What a term is where the unknowns are what they stand for, as a model of the solver."""
        assert model_completion
        found = z3.simplify(z3.substitute(term, *self.pairs))
        while not found.eq(again := z3.simplify(z3.substitute(found, *self.ground))):
            found = again
        return found

    def is_known(self, unknown: Any, value: Any) -> None:
        """An unknown is this."""
        self.assumed.append(unknown == value)
        self.pairs.append((unknown, value))

    def hide(self, value: object) -> Value:
        """The value with an unknown for each of its scalars."""
        made = literal(value)
        if isinstance(value, list):
            return List(tuple(Item(self.guard(), certain(self.hide(one))) for one in value))
        if isinstance(value, dict):
            return Map(
                tuple(
                    Entry(self.guard(), literal(key), certain(self.hide(one)))  # type: ignore[arg-type]
                    for key, one in value.items()
                )
            )
        if isinstance(made, Truth | Int | Uint | Text | Double):
            unknown = z3.Const(f"x{len(self.assumed)}", made.term.sort())
            self.is_known(unknown, made.term)
            return type(made)(unknown)
        return made

    def guard(self) -> Any:
        """Something that holds, and nobody knows it."""
        unknown = z3.Bool(f"x{len(self.assumed)}")
        self.is_known(unknown, z3.BoolVal(val=True))
        return unknown


_PARTS = 8
"""As many as texts have here."""

ERROR = "error"
NOT_THERE = dict.fromkeys(("x", "y", "object", "params"), FAILS)
"""Variables that a case may name and not give."""


def solved(made: Outcome, hidden: Hidden, unmodelled: Unmodelled) -> object:
    """What the solver says it is in the only world there is; ERROR where it fails."""
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(*hidden.assumed, *unmodelled.inputs.assumed)
    while True:
        assert solver.check() == z3.sat
        model = solver.model()
        lessons = unmodelled.lessons(model)
        if not lessons:
            return _in_model(made, model, unmodelled)
        solver.add(*lessons)


def put_in(made: Outcome, hidden: Hidden, unmodelled: Unmodelled) -> object:
    """What it is with the inputs in their places, without a solver; ERROR where it fails."""
    for call in unmodelled.calls:
        known = unmodelled.known(call, hidden)
        hidden.ground += [
            (left, one)
            for term, one in known
            # A call on what a failing one leaves in its place may have had its answer already.
            if _is_asked(left := hidden.eval(term, model_completion=True))
        ]
        # What never fails has no function that says where.
        hidden.pairs += [(term, one) for term, one in known if _is_asked(term)]
    return _in_model(made, hidden, unmodelled)


def _is_asked(term: Any) -> bool:
    """Whether a term is a call of a function without a meaning, not a value."""
    return bool(term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def _in_model(made: Outcome, model: Any, unmodelled: Unmodelled) -> object:
    def holds(formula: Any) -> bool:
        return bool(z3.is_true(model.eval(formula, model_completion=True)))

    if holds(made.error):
        return ERROR
    (case,) = (case for case in made.cases if holds(case.guard))
    value = case.value
    if isinstance(value, EngineCall):
        return unmodelled.value(value, model)
    if isinstance(value, List):
        return [
            _in_model(item.value, model, unmodelled) for item in value.items if holds(item.presence)
        ]
    if isinstance(value, Map):
        return {
            _in_model(certain(entry.key), model, unmodelled): _in_model(
                entry.value, model, unmodelled
            )
            for entry in value.entries
            if holds(entry.presence)
        }
    if isinstance(value, Maybe):
        return (
            Optional(_in_model(value.value, model, unmodelled)) if holds(value.presence) else NONE
        )
    if isinstance(value, Truth | Int | Uint | Text | Double):
        value = type(value)(model.eval(value.term, model_completion=True))
    found = native(value)
    return found if found is not NOT_LITERAL else value


def judge(case: dict[str, Any]) -> tuple[str, str]:
    """What became of a case: agrees, differs or is not modelled, and why."""
    env = kubernetes_environment()
    checked = env.compile(case["expr"]).ast
    if checked is None:
        return "no program", ""
    activation = {name: from_json(value) for name, value in case.get("vars", {}).items()}
    return compared(env, checked, activation, solved)


def judge_random(seed: int) -> tuple[str, str]:
    """The same of a random expression and object."""
    env = kubernetes_environment()
    text, value = random_cases.case(seed)
    checked = env.compile(text).ast
    if checked is None:
        return "no program", ""
    verdict, why = compared(env, checked, {"object": value}, put_in)
    return verdict, f"{why} of {text} on {value}" if verdict == "differs" else why


def compared(
    env: Environment, checked: CheckedAst, activation: JsonObject, come_to: Any
) -> tuple[str, str]:
    """Whether an expression comes to the same symbolically."""
    try:
        program = env.program(checked)
    except ProgramError:
        return "no program", ""
    try:
        wanted = program.evaluate(activation)
    except EvaluationError:
        wanted = ERROR
    hidden, unmodelled = Hidden(), Unmodelled(env, inputs=Inputs(_PARTS))
    scope = NOT_THERE | {name: certain(hidden.hide(value)) for name, value in activation.items()}
    try:
        made = Evaluator(checked, unmodelled).evaluate(scope)
        found = come_to(made, hidden, unmodelled)
    except NotModelled as error:
        return "not modelled", str(error)
    agrees = found is wanted or (
        found is not ERROR and wanted is not ERROR and same(encode(found), encode(wanted))
    )
    return ("agrees" if agrees else "differs"), f"{found!r} for {wanted!r}"


def unmodelled_reasons(paths: list[Path]) -> tuple[int, collections.Counter[str]]:
    """How many recorded expressions there are that compile, and how many of them are not modelled,
    by reason; nothing is solved."""
    env = kubernetes_environment()
    programs, reasons = 0, collections.Counter[str]()
    for path in case_files(paths):
        for case in json.loads(path.read_text()):
            checked = env.compile(case["expr"]).ast
            if checked is None:
                continue
            programs += 1
            hidden = Hidden()
            given = case.get("vars", {}).items()
            scope = NOT_THERE | {
                name: certain(hidden.hide(from_json(value))) for name, value in given
            }
            try:
                Evaluator(checked, Unmodelled(env)).evaluate(scope)
            except NotModelled as error:
                reasons[str(error)] += 1
    return programs, reasons


def unmodelled_table(paths: list[Path]) -> str:
    """The same as Markdown, the most frequent first."""
    programs, reasons = unmodelled_reasons(paths)
    left = programs - sum(reasons.values())
    rows = "".join(
        f"| {why} | {count} |\n"
        for why, count in sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    )
    return (
        f"Of {programs:,} recorded expressions {left:,} are modelled. The others have\n\n"
        f"| what is not modelled | expressions |\n|---|---|\n{rows}"
    )


def random_ones(first: int, count: int, show: int) -> int:
    """So many random cases; what is not modelled at the end."""
    totals, reasons = collections.Counter[str](), collections.Counter[str]()
    for seed in range(first, first + count):
        try:
            verdict, why = judge_random(seed)
        except Exception as error:  # noqa: BLE001
            verdict, why = "crash", f"{type(error).__name__}: {error} of {random_cases.case(seed)}"
        totals[verdict] += 1
        if verdict == "not modelled":
            reasons[why] += 1
        elif verdict in ("differs", "crash") and totals["differs"] + totals["crash"] <= show:
            sys.stdout.write(f"{seed}: {verdict} {why}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dict(totals)}\n")
    for why, number in reasons.most_common(30):
        sys.stdout.write(f"{number} {why}\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--random", nargs=2, type=int)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--unmodelled", action="store_true")
    options = parser.parse_args()
    if options.unmodelled:
        sys.stdout.write(unmodelled_table(options.paths))
        return 0
    if options.random:
        return random_ones(options.random[0], options.random[1], options.show)
    totals: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    shown = 0
    for path in case_files(options.paths):
        begun, counts = time.monotonic(), collections.Counter[str]()
        for case in json.loads(path.read_text()):
            try:
                verdict, why = judge(case)
            except Exception as error:  # noqa: BLE001
                verdict, why = "crash", f"{type(error).__name__}: {error}"
            counts[verdict] += 1
            if verdict == "not modelled":
                reasons[why] += 1
            elif verdict in ("differs", "crash") and shown < options.show:
                shown += 1
                sys.stdout.write(f"{case['id']} {case['expr']} {why}\n")
        sys.stdout.write(f"{path.stem:20} {dict(counts)} {time.monotonic() - begun:.1f} s\n")
        totals += counts
    sys.stdout.write(f"{dict(totals)}\n")
    for why, number in reasons.most_common(30):
        sys.stdout.write(f"{number} {why}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
