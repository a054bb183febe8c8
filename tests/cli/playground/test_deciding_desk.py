"""From a state to what the page shows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.cli.playground.judging import Desk, decide
from tests.cli.files import run
from tests.cli.playground.states import (
    DEFINITION,
    DENIAL,
    POLICY,
    deployment,
    given,
    state,
    with_expression,
)


def verdict(**members: Any) -> Any:
    return Desk().verdict(state(**members))["report"]


def test_a_denial_is_the_server_s() -> None:
    (found,) = verdict(panes={"policy": POLICY, "object": deployment(6)})["objects"]
    assert (found["code"], found["message"]) == (
        422,
        f'deployments.apps "web" is forbidden: {DENIAL}',
    )
    assert found["violations"][0]["rule"] == {"file": "policy", "line": 9}


def test_the_report_is_that_of_check(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("policy", POLICY), ("object", deployment(6))):
        (tmp_path / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        _, out, _ = run(capsys, "check", "-f", "policy", "-o", "json", "object")
    found = json.loads(out)
    assert found == verdict(panes={"policy": POLICY, "object": deployment(6)})


def test_pods_that_a_controller_would_create_are_judged() -> None:
    panes = {
        "policy": POLICY,
        "namespace": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n"
        "  labels: {pod-security.kubernetes.io/enforce: restricted}\n",
        "object": deployment(3),
    }
    workload, pod = verdict(panes=panes)["objects"]
    assert (workload["kind"], workload["verdict"]) == ("Deployment", "warned")
    assert (pod["kind"], pod["verdict"], pod["code"]) == ("Pod", "denied", 403)
    assert pod["generatedBy"]["object"] == "Deployment shop/web"
    assert 'violates PodSecurity "restricted:latest"' in pod["message"]
    assert len(Desk().details(state(panes=panes))["explanation"]) == 2


def test_pods_that_nobody_looks_at_are_not_shown() -> None:
    panes = {"policy": POLICY, "object": deployment(3)}
    (found,) = verdict(panes=panes)["objects"]
    assert found["kind"] == "Deployment"
    assert len(Desk().details(state(panes=panes))["explanation"]) == 1


def test_bindings_params_and_namespaces_have_panes_of_their_own() -> None:
    policy, binding = POLICY.split("---\n")
    policy = policy.replace("<= 5", "<= int(params.data.most)").replace(
        "spec:\n", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n", 1
    )
    policy = policy.replace("message:", "messageExpression: params.data.most + string(1) #")
    binding = binding.replace("{policyName", "{paramRef: {name: most, parameterNotFoundAction: "
                              "Deny}, matchResources: {namespaceSelector: {matchLabels: {a: b}}}, "
                              "policyName")  # fmt: skip
    params = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: most, namespace: shop}\n"
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {a: b}}\n"
    panes = {
        "policy": policy,
        "binding": binding,
        "params": params + "data: {most: '2'}",
        "namespace": namespace,
        "object": deployment(3),
    }
    (found,) = verdict(panes=panes)["objects"]
    assert found["namespace"] == "shop"
    assert found["message"].endswith("denied request: 21")
    other = {**panes, "namespace": namespace.replace("b}", "c}")}
    assert verdict(panes=other)["objects"][0]["verdict"] == "untouched"


def test_updates_and_deletions_look_at_the_old_object() -> None:
    policy = POLICY.replace("UPDATE", "UPDATE, DELETE").replace(
        "object.spec.replicas <= 5", "oldObject == null || oldObject.spec.replicas < 3"
    )
    panes = {"policy": policy, "object": deployment(1), "oldObject": deployment(3)}
    for operation, code in (("CREATE", 200), ("UPDATE", 422), ("DELETE", 422)):
        assert verdict(panes=panes, operation=operation)["objects"][0]["code"] == code
    only = {"policy": policy, "object": deployment(3)}
    assert verdict(panes=only, operation="DELETE")["objects"][0]["code"] == 422


@pytest.mark.parametrize(
    ("members", "pane", "said"),
    [
        ({"operation": "UPDATE"}, "oldObject", "an UPDATE needs the object as it is now"),
        ({"operation": "CONNECT"}, "object", "a CONNECT needs a subresource"),
        ({"user": "a: b"}, "user", "`a` is none of"),
    ],
)
def test_what_cannot_be_asked(members: dict[str, str], pane: str, said: str) -> None:
    panes = {"policy": POLICY, "object": deployment(1), "user": members.pop("user", "")}
    desk, asked = Desk(), state(panes=panes, **members)
    (problem,) = desk.verdict(asked)["report"]["problems"]
    assert problem["file"] == pane
    assert said in problem["message"]
    assert desk.details(asked) == {}


def test_problems_of_all_panes_are_told() -> None:
    found = verdict(panes={"policy": "kind: x", "object": "[", "cluster": "{"})
    assert {one["file"] for one in found["problems"]} == {"policy", "object", "cluster"}


def test_the_authorizer_answers_by_the_roles_of_its_pane() -> None:
    policy = POLICY.replace(
        "object.spec.replicas <= 5",
        "authorizer.group('').resource('secrets').check('get').allowed()",
    )
    roles = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
"""
    for name, code in (("alice", 200), ("bob", 422)):
        panes = {
            "policy": policy,
            "object": deployment(1),
            "authorizer": roles,
            "user": f"username: {name}",
        }
        assert verdict(panes=panes)["objects"][0]["code"] == code


def test_the_answer_does_not_depend_on_what_was_asked_before() -> None:
    desk = Desk()
    states = [
        given(panes={"policy": policy, "object": deployment(replicas)}, release=release)
        for replicas in (5, 6)
        for policy in (POLICY, POLICY.replace("<= 5", "<= 7"))
        for release in ("1.36", "1.30")
    ]
    for one in (*states, *reversed(states)):
        asked = state(**{name: one[name] for name in ("panes", "release")})
        assert {**desk.verdict(asked), "details": desk.details(asked)} == decide(one)


@pytest.mark.parametrize(
    ("pane", "text"),
    [
        ("policy", f'{POLICY}  - expression: "x"\n'),
        ("policy", f"{POLICY}---\n[\n"),
        ("object", f"{deployment(1)}---\n{{\n"),
        ("cluster", "kind: x"),
        ("policy", with_expression("object.spec.replicas <=")),
    ],
)
def test_nothing_is_admitted_as_long_as_something_cannot_be_read(pane: str, text: str) -> None:
    """Whoever reads the first word of a card would take the object for admitted."""
    asked = state(panes={"policy": POLICY, "object": deployment(1), pane: text})
    found = Desk().verdict(asked)["report"]
    assert found["objects"] == []
    assert [*found["problems"], *found["policyErrors"]]


def test_what_cannot_be_read_is_not_explained() -> None:
    asked = state(panes={"policy": POLICY, "object": deployment(1), "cluster": "kind: x"})
    assert "explanation" not in Desk().details(asked)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("rules", "a ValidatingAdmissionPolicy decides nothing in the mode `Rules of a CRD`"),
        ("mutating", "a ValidatingAdmissionPolicy decides nothing in the mode `Mutating policy`"),
    ],
)
def test_a_mode_says_what_decides(mode: str, said: str) -> None:
    found = verdict(mode=mode, panes={"policy": POLICY, "object": deployment(6)})
    (problem,) = found["problems"]
    assert (problem["file"], problem["line"], problem["message"]) == ("policy", 1, said)
    assert problem["help"] == "choose the mode `Validating policy` for it"
    assert found["objects"] == []


def test_panes_of_other_modes_wait() -> None:
    """A binding is not seen among the rules of a definition, so it binds nothing there."""
    policy, binding = POLICY.split("---\n")
    panes = {"policy": DEFINITION, "cluster": policy, "binding": binding, "object": deployment(6)}
    assert verdict(mode="rules", panes=panes)["objects"][0]["allowed"]
    assert not verdict(panes={**panes, "policy": policy})["objects"][0]["allowed"]
