"""What becomes of changed policies: which are killed, by whom, what survives, what would kill."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from celadon.cli.policytest.case_results import AlterationResult, Alterations, Fate
from celadon.cli.policytest.case_running import RunOptions, chosen_cases
from celadon.cli.policytest.importers.foreign_formats import given_tests
from celadon.cli.policytest.mutants import mutant_runs
from celadon.cli.policytest.mutants.mutant_proofs import EVERYWHERE_SAME
from celadon.cli.policytest.mutants.mutant_runs import run_alterations
from tests.cli.files import Json, binding, config_map, policy, write
from tests.cli.policytest.given_cases import report, written

RULES = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
]
SAID = "object.data.x"
"""One place of ConfigMaps."""


def mutants(path: str, jobs: int = 1) -> Alterations:
    """Of the policies that a test file is about."""
    given = given_tests([path])
    assert not given.problems
    options = RunOptions()
    cases = chosen_cases(given.tests, options)
    return run_alterations(cases, options.versions, jobs, lambda _: None)


def of_expressions(path: str) -> dict[str, AlterationResult]:
    """What became of the changes of expressions, by their texts."""
    return {
        one.text: one
        for one in mutants(path).results
        if one.field.endswith("expression") or one.field.endswith("Expression")
    }


def limit(folder: Path, expression: str, *cases: Json) -> str:
    """A test of a policy with one expression."""
    documents = [policy(expression=expression, rules=RULES), binding()]
    return written(folder, *cases, documents=documents)


def asked(verdict: object, **data: str) -> Json:
    return {"object": config_map(**data), "expect": verdict}


def test_a_case_kills(tmp_path: Path) -> None:
    path = limit(tmp_path, f"{SAID} == '1'", asked("admit", x="1"), asked("deny", x="2"))
    found = of_expressions(path)
    turned = found[f"`{SAID} == '1'` becomes `{SAID} != '1'`"]
    assert turned.fate is Fate.KILLED
    assert turned.killer == f"{path}::case 0"
    assert not turned.diff
    assert not turned.case


def test_what_survives_is_shown_with_a_case(tmp_path: Path) -> None:
    path = limit(tmp_path, f"int({SAID}) < 5", asked("admit", x="1"), asked("deny", x="9"))
    one = of_expressions(path)[f"`int({SAID}) < 5` becomes `int({SAID}) <= 5`"]
    assert one.fate is Fate.SURVIVED
    assert '+    "expression": "int(object.data.x) <= 5"\n' in one.diff
    (case,) = yaml.safe_load(one.case)
    assert case["expect"] == {"deny": f"failed expression: int({SAID}) < 5"}
    assert case["object"]["data"] == {"x": "1"}
    assert case["patch"] == [{"op": "replace", "path": "/data/x", "value": "5"}]


BOUND = f"int({SAID}) < 5"
CHOICE = f"{SAID} in ['1', '2'] ? true : request.userInfo.username == 'bob'"
CONTAINERS = "object.data.all(k, k != 'x' || object.data[k] == '1')"
SUITES: dict[str, tuple[Json, ...]] = {
    BOUND: (asked("admit", x="1"),),
    f"has({SAID}) && {SAID} == '1' || object.metadata.name == 'z'": (asked("admit", x="1"),),
    CHOICE: (asked("admit", x="1"),),
    CONTAINERS: (asked("admit", x="1"),),
    f"size({SAID}) + 1 > 2 - size(object.metadata.name)": (asked("admit", x="1"),),
    "!has(object.data.y) || oldObject == null": (asked("admit", x="1"),),
}
"""Expressions with a test that is too weak for them."""


@pytest.mark.parametrize(
    "expression",
    [one if one == BOUND else pytest.param(one, marks=pytest.mark.thorough) for one in SUITES],
)
def test_every_proposed_case_kills_its_mutant(tmp_path: Path, expression: str) -> None:
    """And passes with the policy as it is: all at once, pasted into the file."""
    path = limit(tmp_path, expression, *SUITES[expression])
    before = mutants(path)
    survivors = [(i, one) for i, one in enumerate(before.results) if one.case]
    assert survivors
    test = json.loads(Path(path).read_text(encoding="utf-8"))
    for number, one in survivors:
        (case,) = yaml.safe_load(one.case)
        pasted = {**test, "cases": [*test["cases"], {**case, "name": f"pasted {number}"}]}
        write(Path(path), pasted)
        ran = report(path)
        assert not [found.mismatches for found in ran.cases if found.is_bad], one.text
        after = mutants(path).results[number]
        assert after.fate is Fate.KILLED, one.text
        assert after.killer == f"{path}::pasted {number}"


def test_a_default_message_does_not_kill(tmp_path: Path) -> None:
    """It says the expression, which is another one in each mutant."""
    expression = f"int({SAID}) < 5"
    refused = asked({"deny": f"failed expression: {expression}"}, x="9")
    path = limit(tmp_path, expression, asked("admit", x="1"), refused)
    one = of_expressions(path)[f"`{expression}` becomes `int({SAID}) <= 5`"]
    assert one.fate is Fate.SURVIVED


def test_proofs_and_searches(tmp_path: Path) -> None:
    """`> 0` and `!= 0` are the same for sizes; that nothing errs is what a search says."""
    expression = f"size({SAID}) > 0 || size({SAID}) != 0"
    found = of_expressions(limit(tmp_path, expression, asked("admit", x="1"), asked("deny", x="")))
    fates = {text: one.fate for text, one in found.items()}
    assert fates[f"`{expression}` becomes `size({SAID}) != 0`"] is Fate.SAME
    assert all(one.reason for one in found.values() if one.fate is Fate.SAME)


ERRS_NEVER = "has(object.data) && 'x' in object.data"


def test_no_difference_is_found_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is said."""
    monkeypatch.setattr(mutant_runs, "can_prove", lambda: False)
    cases = (asked("admit", x="1"), asked("deny"))
    found = mutants(limit(tmp_path, ERRS_NEVER, *cases))
    (ignored,) = (one for one in found.results if one.field == "spec.failurePolicy")
    assert ignored.fate is Fate.ALIKE
    assert ignored.requests > 5
    assert re.fullmatch(
        r"\d+ combinations of object.data \(\d\), object.data.x \(\d+\)", ignored.reason
    )
    assert not ignored.case


def test_what_no_search_tells_apart_is_proved_to_be_the_same(tmp_path: Path) -> None:
    pytest.importorskip("z3")
    cases = (asked("admit", x="1"), asked("deny"))
    found = mutants(limit(tmp_path, ERRS_NEVER, *cases))
    (ignored,) = (one for one in found.results if one.field == "spec.failurePolicy")
    assert ignored.fate is Fate.SAME
    assert ignored.reason == EVERYWHERE_SAME


@pytest.mark.thorough
def test_what_no_search_tells_apart_the_solver_may(tmp_path: Path) -> None:
    """No search tries so many things at once."""
    pytest.importorskip("z3")
    places = "uvwxyz"
    text = " && ".join(f"object.?data.{one}.orValue('') == '{one * 6}'" for one in places)
    path = limit(tmp_path, f"!({text})", asked("admit", x="1"))
    found = of_expressions(path)
    one = found["`'uuuuuu'` becomes `'uuuuuux'`"]
    assert one.fate is Fate.SURVIVED
    (case,) = yaml.safe_load(one.case)
    data = {one: one * 6 for one in places}
    assert case["object"]["data"] in (data, {**data, "u": "uuuuuux"})


@pytest.mark.parametrize(
    ("expression", "change", "case"),
    [
        (f"{SAID} != 'Draft>Live'", "`'Draft>Live'` becomes `'Draft>Livex'`", ""),
        (
            "oldObject == null || (oldObject.data.x + '>' + object.data.x) in ['a>b', 'b>c']",
            "`['a>b', 'b>c']` becomes `['a>b']`",
            "oldObject",
        ),
        (
            "has(request.userInfo.extra) && request.userInfo.extra['why'].size() == 2",
            "`2` becomes `3`",
            "extra",
        ),
        ("namespaceObject.metadata.labels['env'] == 'a'", "`'a'` becomes `'ax'`", "resources"),
        pytest.param(
            f"10 / int({SAID}) > 1", "`10` becomes `9`", "5", marks=pytest.mark.thorough
        ),  # the solver knows little of divisions, and takes long to say so
        (f"9223372036854775807 + int({SAID}) > 0", "`0` becomes `-1`", "-9223372036854775807"),
        ("authorizer.group('').resource('pods').check('get').allowed()", "", "authorizer"),
        ("request.dryRun == false", "", "dryRun"),
    ],
)
def test_combinations_find_what_one_change_does_not(
    tmp_path: Path, expression: str, change: str, case: str
) -> None:
    rules = [{**RULES[0], "operations": ["CREATE", "UPDATE"]}]
    documents = [policy(expression=expression, rules=rules), binding()]
    verdict = verdict_of(tmp_path / "first", expression, rules)
    path = written(tmp_path, asked(verdict, x="1"), documents=documents)
    found = {
        one.text: one
        for one in mutants(path).results
        if one.field == "spec.validations[0].expression"
    }
    chosen = [one for text, one in found.items() if change in text]
    assert chosen
    for one in chosen:
        assert one.fate in (Fate.KILLED, Fate.SURVIVED), one.text
        assert one.fate is Fate.KILLED or case in one.case


def verdict_of(folder: Path, expression: str, rules: list[Json]) -> str:
    """Of a request with `x: 1`."""
    folder.mkdir()
    documents = [policy(expression=expression, rules=rules), binding()]
    (one,) = report(written(folder, asked("admit", x="1"), documents=documents)).cases
    assert one.outcome is not None
    return one.outcome.verdict.value


def test_what_cannot_be_changed_is_open(tmp_path: Path) -> None:
    """No ephemeral container can be in a Pod that is created: about them nothing is known."""
    expression = "object.spec.?ephemeralContainers.orValue([]).all(c, c.image != 'a')"
    rules = [{**RULES[0], "resources": ["pods"]}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}}
    pod["spec"] = {"containers": [{"name": "c", "image": "a"}]}
    documents = [policy(expression=expression, rules=rules), binding()]
    path = written(tmp_path, {"object": pod, "expect": "admit"}, documents=documents)
    found = of_expressions(path)["`'a'` becomes `'ax'`"]
    assert found.fate is Fate.OPEN
    assert "object.spec.ephemeralContainers[0].image" in found.reason
    assert found.diff
    assert mutants(path).score < 100


def test_what_no_case_comes_to_is_not_the_same(tmp_path: Path) -> None:
    """A policy about a kind that nobody can make up."""
    rules = [{**RULES[0], "apiGroups": ["example.com"], "resources": ["widgets"]}]
    documents = [policy(expression="object.spec.size < 5", rules=rules), binding()]
    path = written(tmp_path, {"expect": "noMatch"}, documents=documents)
    fates = {one.text: one.fate for one in mutants(path).results}
    assert fates["`object.spec.size < 5` becomes `object.spec.size <= 5`"] is Fate.UNREACHED
    assert mutants(path).score < 100


def test_an_object_whose_name_the_server_makes(tmp_path: Path) -> None:
    """It can be created, not updated: of what the search asks, that is left out."""
    made = config_map(x="1")
    made["metadata"] = {"generateName": "cm-", "namespace": "default"}
    path = limit(tmp_path, f"int({SAID}) < 5", {"object": made, "expect": "admit"})
    assert mutants(path).count(Fate.SURVIVED)


def test_what_does_not_compile_is_no_mutant(tmp_path: Path) -> None:
    expression = "'a' + object.metadata.name != 'ax'"
    found = of_expressions(limit(tmp_path, expression, asked("admit", x="1")))
    assert not [text for text in found if " - " in text]
    assert [text for text in found if "==" in text]


def test_the_score_is_of_those_that_can_be_noticed(tmp_path: Path) -> None:
    found = mutants(limit(tmp_path, f"{SAID} == '1'", asked("admit", x="1"), asked("deny", x="2")))
    same = found.count(Fate.SAME) + found.count(Fate.ALIKE)
    assert found.counted == len(found.results) - same
    assert found.score == 100 * found.count(Fate.KILLED) / found.counted


def test_only_cases_that_pass_kill(tmp_path: Path) -> None:
    path = limit(tmp_path, f"{SAID} == '1'", asked("deny", x="1"))
    assert not mutants(path).results


def test_a_policy_of_several_tests_is_one(tmp_path: Path) -> None:
    """What one test does not notice, another does."""
    first = limit(tmp_path, f"{SAID} == '1'", asked("admit", x="1"))
    other = json.loads(Path(first).read_text(encoding="utf-8"))
    other["cases"] = [{"name": "refused", **asked("deny", x="2")}]
    write(tmp_path / "more.policytest.yaml", {**other, "policies": ["limit.yaml"]})
    alone = mutants(first)
    both = mutants(str(tmp_path))
    assert len(both.results) == len(alone.results)
    assert both.count(Fate.KILLED) > alone.count(Fate.KILLED)


@pytest.mark.thorough
def test_processes_find_the_same(tmp_path: Path) -> None:
    documents = [
        *(policy(name, f"{SAID} == '1'", rules=RULES) for name in ("one", "two")),
        *(binding(name) for name in ("one", "two")),
    ]
    path = written(tmp_path, asked("admit", x="1"), asked("deny", x="2"), documents=documents)
    assert mutants(path, jobs=2) == mutants(path, jobs=1)


def test_policies_that_mutate(tmp_path: Path) -> None:
    made = policy(rules=RULES)
    expression = "Object{metadata: Object.metadata{labels: {'team': 'a', 'tier': 'b'}}}"
    configuration = {
        "patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": expression},
    }
    made |= {"kind": "MutatingAdmissionPolicy"}
    made["spec"] = {
        "matchConstraints": {"resourceRules": RULES},
        "reinvocationPolicy": "Never",
        "mutations": [configuration],
    }
    bound = {**binding(), "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "limit"}}
    expect = {"object": {"metadata": {"labels": {"team": "a"}}}}
    path = written(tmp_path, {"object": config_map(), "expect": expect}, documents=[made, bound])
    found = of_expressions(path)
    gone = found["`{'team': 'a', 'tier': 'b'}` becomes `{'tier': 'b'}`"]
    assert gone.fate is Fate.KILLED
    left = found["`{'team': 'a', 'tier': 'b'}` becomes `{'team': 'a'}`"]
    assert left.fate is Fate.SURVIVED
    (case,) = yaml.safe_load(left.case)
    assert {"op": "add", "path": "/metadata/labels", "value": {"team": "a", "tier": "b"}} in (
        case["expect"]["patch"]
    )


@pytest.mark.thorough
def test_nothing_in_the_examples_goes_unnoticed() -> None:
    """What is not killed is proved, for any request or within a bound; both say how."""
    found = mutants(str(Path(__file__).parents[4] / "examples"))
    left = [one for one in found.results if one.fate not in (Fate.KILLED, Fate.SAME, Fate.ALIKE)]
    assert not [f"{one.place} {one.field} {one.text}" for one in left]
    assert found.count(Fate.KILLED) > 130
    equal = [one for one in found.results if one.fate is not Fate.KILLED]
    assert all(one.reason for one in equal)
    assert all("combinations of" in one.reason for one in equal if one.fate is Fate.ALIKE)
