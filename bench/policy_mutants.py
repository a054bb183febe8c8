"""`celadon test --mutate` on policies of the recordings: what one policy takes.

The recorded requests are the cases. What is expected of each is what Celadon makes of it, which the
tests of the recordings hold to what the server answered. Policies that were made to exhaust the
budget of costs are left out: one evaluation of theirs takes as long as a whole run of another.
`python -m bench.policy_mutants` shows all policies, and writes their part of docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any, Final

from tests.paths import shared_folder

from bench.pace import measured_slowness
from bench.page import record
from celadon.cli.policytest.case_results import Alterations, CaseResult, Fate, all_alterations
from celadon.cli.policytest.case_running import RunOptions, chosen_cases, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from celadon.cli.policytest.mutants.mutant_runs import run_alterations

POLICIES: Final = 30
GOAL_SECONDS: Final = 1
_LEAST_CASES: Final = 2
_POLICY: Final = "ValidatingAdmissionPolicy"
_BINDING: Final = "ValidatingAdmissionPolicyBinding"
_TEST: Final = {"apiVersion": "celadon.dev/v1", "kind": "PolicyTest"}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mutated:
    """A recording, the seconds of a processor that its policy took, and what came of it."""

    name: str
    seconds: float
    found: Alterations


def measured() -> Iterator[Mutated]:
    """Thirty policies, spread over the recordings; none where there are no recordings."""
    folder = shared_folder() / "conformance" / "policy"
    scenarios = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    usable = [one for one in scenarios if len(list(_cases(one))) >= _LEAST_CASES and _is_one(one)]
    chosen = [usable[len(usable) * number // POLICIES] for number in range(POLICIES)]
    with tempfile.TemporaryDirectory() as name:
        for number, one in enumerate(chosen):
            yield _mutated(one, Path(name) / str(number))


def _is_one(scenario: Json) -> bool:
    """Whether it is about one policy."""
    kinds = [one.get("kind", "") for one in scenario.get("setup", ())]
    return (
        "cost" not in scenario["name"]
        and "" not in kinds
        and kinds.count(_POLICY) == 1
        and _BINDING in kinds
    )


def _mutated(scenario: Json, folder: Path) -> Mutated:
    path = _written(scenario, folder)
    start = process_time()
    given, options = given_tests([path]), RunOptions(jobs=1)
    chosen = chosen_cases(given.tests, options)
    found = run_alterations(chosen, options.versions, 1, lambda _: None)
    return Mutated(scenario["name"], process_time() - start, found)


def _written(scenario: Json, folder: Path) -> str:
    """A test file, with the policy beside it."""
    folder.mkdir()
    setup = scenario["setup"]
    own = [one for one in setup if one["kind"] in (_POLICY, _BINDING)]
    rest = [one for one in setup if one not in own]
    (folder / "policy.json").write_text("\n".join(json.dumps(one, indent=1) for one in own))
    path = folder / "recorded.policytest.json"
    test = {
        **_TEST,
        "policies": ["policy.json"],
        "resources": rest,
        "cases": list(_cases(scenario)),
    }
    path.write_text(json.dumps(test))
    ran = run_tests(given_tests([str(path)]).tests, RunOptions(jobs=1), lambda _: None)
    known = {one.case.name: one for one in ran.cases if one.outcome is not None}
    cases = [
        {**one, "expect": _expected(known[one["name"]])}
        for one in test["cases"]
        if one["name"] in known
    ]
    path.write_text(json.dumps({**test, "cases": cases}))
    return str(path)


def _cases(scenario: Json) -> Iterator[Json]:
    """The requests that create something."""
    for number, step in enumerate(scenario.get("steps", ())):
        body = step.get("body")
        is_object = isinstance(body, dict) and {"apiVersion", "kind", "metadata"} <= body.keys()
        if step.get("method") == "POST" and is_object and "Admission" not in body["kind"]:
            parts = step["path"].partition("?")[0].split("/")
            where = (
                {"namespace": parts[parts.index("namespaces") + 1]}
                if "namespaces" in parts[:-1]
                else {}
            )
            yield {"name": f"step {number}", "object": body, **where, "expect": "snapshot"}


def _expected(result: CaseResult) -> str | Json:
    """With the message of what speaks."""
    outcome = result.outcome
    assert outcome is not None
    verdict = outcome.verdict.value
    said = [one.message for one in outcome.deciding] + [one.message for one in outcome.ignored]
    return {verdict: said[0]} if said and verdict in ("deny", "warn", "audit", "error") else verdict


def main() -> None:
    """A line for each policy, then the part of the page."""
    argparse.ArgumentParser(prog="python -m bench.policy_mutants", description=__doc__).parse_args()
    every = []
    for one in measured():
        every.append(one)
        found = one.found
        counts = " ".join(f"{fate.value} {found.count(fate)}" for fate in Fate)
        sys.stdout.write(f"{one.seconds:6.2f} s  {found.score:5.1f}%  {counts}  {one.name}\n")
        sys.stdout.flush()
    table = part([one.seconds for one in every], measured_slowness())
    found = all_alterations(one.found for one in every)
    counts = ", ".join(f"{found.count(fate):,} {fate.value}" for fate in Fate)
    values = {"mutated": str(len(every))}
    values["mutants-counts"] = f"{len(found.results):,} mutants: {counts}"
    record({"mutants": table.splitlines()}, values)


def part(seconds: Sequence[float], slowness: float) -> str:
    """The table of the page."""
    goal = GOAL_SECONDS * slowness
    slowest = max(seconds)
    said = "reached" if slowest <= goal else "**missed**"
    here = f"≤ {GOAL_SECONDS} s | ≤ {goal:.1f} s | {said}"
    return _TEXT.format(slowest, here, mean(seconds))


_TEXT: Final = """\
| | measured | goal | the same here | |
| --- | ---: | ---: | ---: | --- |
| a policy, the slowest | {:.2f} s | {} |
| a policy, mean | {:.2f} s | | | |
"""


if __name__ == "__main__":
    main()
