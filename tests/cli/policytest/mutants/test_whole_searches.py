"""Whole searches for what tells policies from altered ones: what is read, asked, and found.

`tests/cases/searches` has it all; `pytest --update-golden` writes it anew, to be read
like code. No solver is asked: what it says is for its own tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from celadon.cli.policytest.case_results import AlterationResult
from celadon.cli.policytest.case_running import RunOptions, chosen_cases
from celadon.cli.policytest.importers.foreign_formats import given_tests
from celadon.cli.policytest.mutants import mutant_runs
from celadon.cli.policytest.mutants.mutant_runs import policy_alterations
from celadon.cli.policytest.mutants.policy_stages import stages
from celadon.cli.policytest.mutants.request_pool import Generated, RequestPool
from celadon.kube.registry import patch_between
from tests.cli.files import Json, binding, config_map, policy
from tests.cli.policytest.given_cases import written
from tests.paths import ROOT

SEARCHES = ROOT / "tests" / "cases" / "searches"
RULE: Json = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["configmaps"],
}
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"containers": [{"name": "web", "image": "a/web"}]},
}
PARAM_KIND = {"apiVersion": "v1", "kind": "ConfigMap"}


def admitted(**case: object) -> Json:
    return {"object": config_map(x="1"), "expect": "admit", **case}


def selected() -> list[Json]:
    """A policy that looks at labels, and two bindings."""
    found = policy(expression="object.data.x != '2'", rules=[{**RULE, "operations": ["CREATE"]}])
    found["spec"]["matchConstraints"] |= {
        "namespaceSelector": {
            "matchExpressions": [{"key": "env", "operator": "In", "values": ["prod", "test"]}]
        },
        "objectSelector": {"matchLabels": {"app": "web"}},
    }
    warning = binding("warning", "limit", "Warn Audit")
    return [found, binding(), warning]


def mutating() -> list[Json]:
    """A policy that changes what it looks at, and its binding."""
    group = "admissionregistration.k8s.io/v1"
    spec = {
        "matchConstraints": {"resourceRules": [{**RULE, "operations": ["CREATE"]}]},
        "reinvocationPolicy": "Never",
        "mutations": [
            {
                "patchType": "JSONPatch",
                "jsonPatch": {
                    "expression": "[JSONPatch{op: 'add', path: '/data/y', value: object.data.x}]"
                },
            }
        ],
    }
    meta, kind = {"name": "limit"}, "MutatingAdmissionPolicy"
    return [
        {"apiVersion": group, "kind": kind, "metadata": meta, "spec": spec},
        {"apiVersion": group, "kind": f"{kind}Binding", "metadata": meta,
         "spec": {"policyName": "limit"}},
    ]  # fmt: skip


LABELLED = {"metadata": {"labels": {"app": "web"}}}
SUITES: dict[str, tuple[list[Json], list[Json]]] = {
    "labels": (
        selected(),
        [admitted(patch=LABELLED, namespaces={"default": {"env": "prod"}})],
    ),
    "users": (
        [
            policy(
                expression="request.userInfo.username == 'bob' || 'ops' in request.userInfo.groups",
                rules=[RULE],
                matchConditions=[{"name": "real", "expression": "!request.dryRun"}],
            ),
            binding(),
        ],
        [admitted(user="bob", groups=["devs"])],
    ),
    "params": (
        [
            policy(
                expression="int(object.data.x) <= int(params.data.most)",
                rules=[{**RULE, "operations": ["CREATE"]}],
                paramKind=PARAM_KIND,
            ),
            binding(paramRef={"name": "most", "parameterNotFoundAction": "Deny"}),
        ],
        [admitted(params=[config_map("most", most="3")])],
    ),
    "updates": (
        [policy(expression="oldObject == null || object.data.x >= oldObject.data.x", rules=[RULE]),
         binding()],
        [admitted(operation="UPDATE", oldObject=config_map(x="0"))],
    ),
    "lists": (
        [
            policy(
                expression="object.spec.containers.all(c, c.image.startsWith('a/'))",
                rules=[{**RULE, "operations": ["CREATE"], "resources": ["pods"]}],
            ),
            binding(),
        ],
        [{"object": POD, "expect": "admit"}],
    ),
    "questions": (
        [
            policy(
                expression="authorizer.group('').resource('pods').check('get').allowed()",
                rules=[{**RULE, "operations": ["CREATE"]}],
            ),
            binding(),
        ],
        [admitted(authorizer=[{"decision": "allow", "verb": "get", "resource": "pods"}])],
    ),
    "mutations": (
        mutating(),
        [admitted(expect={"object": {"data": {"y": "1"}}})],
    ),
}  # fmt: skip
"""Policies with a case that is not enough for them."""


def _policy_lines(pool: RequestPool) -> Iterator[str]:
    read = pool.read
    for kind, operations in read.kinds:
        yield f"kind {kind}: {', '.join(sorted(one.value for one in operations))}"
    yield from (f"place {'.'.join(map(str, place))}" for place in read.places.places)
    yield f"values {list(read.places.values)!r}"
    yield f"users {list(read.users)!r}"
    yield f"labels of Namespaces {list(read.namespaces)!r}"
    yield f"labels {read.object_labels!r}, any of {dict(read.object_wishes)!r}"
    yield f"params {read.param_kind}"


def _request_line(generated: Generated, first: Generated) -> str:
    case, origin = generated.case, first.case
    parts = [case.operation.value, case.object.value["kind"]]
    parts.append(json.dumps(patch_between(origin.object.value, case.object.value)))
    if case.old is not None:
        parts.append(f"before {json.dumps(patch_between(case.object.value, case.old.value))}")
    if case.user != origin.user:
        parts.append(f"by {case.user.name} of {', '.join(case.user.groups)}")
    if case.dry_run:
        parts.append("dry run")
    parts += (json.dumps(one.value) for one in case.cluster if one not in origin.cluster)
    reached = "reached" if generated.glance.reached else "not reached"
    made = "" if generated.origin is None else "from the case "
    return f"  {made}{' '.join(parts)}: {reached}"


def _result_lines(result: AlterationResult) -> Iterator[str]:
    yield f"{result.fate.value} {result.place.line} {result.kind.value} {result.field}"
    yield f"  {result.text}"
    if result.killer or result.reason:
        yield f"  {result.killer or result.reason}"
    yield f"  {result.requests} requests, {len(result.diff.splitlines())} lines of a diff"
    yield from (f"    {line}" for line in result.case.splitlines())


def _searched(name: str) -> Iterator[str]:
    documents, cases = SUITES[name]
    given = given_tests([written(Path(), *cases, documents=documents)])
    assert not given.problems
    options = RunOptions()
    found = stages(chosen_cases(given.tests, options), options.versions)
    ((measured, policy_stages),) = found.items()
    (stage,) = policy_stages
    pool = RequestPool(stage.bench, stage.cases, measured.name)
    requests = list(pool.first(30))
    yield from _policy_lines(pool)
    yield from (_request_line(one, requests[0]) for one in requests)
    for result in policy_alterations(measured, policy_stages).results:
        yield from _result_lines(result)


@pytest.mark.parametrize("name", SUITES)
def test_whole_searches(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mutant_runs, "can_prove", lambda: False)
    searched = "".join(f"{line}\n" for line in _searched(name))
    path = SEARCHES / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(searched, encoding="utf-8")
    assert searched == path.read_text(encoding="utf-8")
