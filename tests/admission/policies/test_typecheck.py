"""Type checking as the status controller does it. The recorded statuses are in tests/recorded."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.policies.typecheck import TypeChecker
from celadon.kube import GroupVersionKind
from celadon.kube.resources import known_resources
from celadon.kube.schemas import custom_schemas
from tests.admission.building import policy
from tests.kube.schemas.test_definition_schemas import definition

DEPLOYMENTS = {
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["deployments"],
}
CHECKER = TypeChecker(known_resources())


def warned(*expressions: str, **spec: Any) -> list[tuple[str, str]]:
    """`fieldRef` and warning of a policy with these validations."""
    spec.setdefault("matchConstraints", {"resourceRules": [DEPLOYMENTS]})
    spec["validations"] = [{"expression": text} for text in expressions]
    return [(one.field_ref, one.warning) for one in CHECKER.warnings(policy(**spec), 7)]


def rules(*resources: str, group: str = "", version: str = "v1") -> dict[str, Any]:
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": ["*"]}
    return {"resourceRules": [{**rule, "resources": list(resources)}]}


def kinds(**spec: Any) -> list[str]:
    """The kinds that are checked."""
    found = warned("object.zzz == 1", **spec)
    if not found:
        return []
    parts = found[0][1].split("\n\n")
    return [part.partition(": ")[0] for part in parts]


def test_a_warning() -> None:
    expected = (
        (
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' "
            "applied to '(Deployment7.spec.template, int)'\n"
            " | object.spec.template == 3\n | ....................^\n"
        )
        .replace("1:21", "1:22")
        .replace("....................^", ".....................^")
    )
    assert warned("object.spec.replicas > 1", "object.spec.template == 3") == [
        ("spec.validations[1].expression", expected)
    ]


def test_status() -> None:
    given = policy(
        matchConstraints={"resourceRules": [DEPLOYMENTS]},
        validations=[{"expression": "true", "messageExpression": "'n' + object.spec.replicas"}],
    )
    found = CHECKER.status(given, 7)
    assert found["observedGeneration"] == 0
    (warning,) = found["typeChecking"]["expressionWarnings"]
    assert warning["fieldRef"] == "spec.validations[0].messageExpression"
    clean = policy(matchConstraints={"resourceRules": [DEPLOYMENTS]}, validations=[])
    assert CHECKER.status(clean, 7)["typeChecking"] == {}


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        (rules("pods", "configmaps"), ["/v1, Kind=ConfigMap", "/v1, Kind=Pod"]),
        (rules("Pods", "pod"), ["/v1, Kind=Pod"]),
        (rules("deployments"), ["apps/v1, Kind=Deployment"]),
        (rules("events"), ["/v1, Kind=Event", "events.k8s.io/v1, Kind=Event"]),
        (rules("podlists"), ["/v1, Kind=PodList"]),
        (rules("pods", "pods/status", "*", "*/scale"), ["/v1, Kind=Pod"]),
        (rules("pods", version="*"), []),
        (rules("pods", group="*"), []),
        (rules("pods/status"), []),
        (rules("podz"), []),
        (rules("deployments", group="apps", version="v1beta1"), []),
    ],
)
def test_kinds(constraints: dict[str, Any], expected: list[str]) -> None:
    assert kinds(matchConstraints=constraints) == expected


def test_ten_kinds_of_one_rule_end_the_collection() -> None:
    ten = rules(
        "configmaps", "endpoints", "limitranges", "namespaces", "nodes", "pods", "podtemplates",
        "replicationcontrollers", "resourcequotas", "secrets", "services",
    )  # fmt: skip
    ten["resourceRules"].append(DEPLOYMENTS)
    found = kinds(matchConstraints=ten)
    assert len(found) == 10
    assert "apps/v1, Kind=Deployment" not in found


def test_several_rules_may_exceed_ten() -> None:
    nine = rules(
        "configmaps", "endpoints", "limitranges", "namespaces", "nodes", "pods", "podtemplates",
        "replicationcontrollers", "resourcequotas",
    )  # fmt: skip
    two = rules("deployments", "daemonsets", group="apps")["resourceRules"]
    nine["resourceRules"] += two
    assert len(kinds(matchConstraints=nine)) == 11


def test_the_same_kind_as_object_and_params_is_two_types() -> None:
    assert warned(
        "object == params",
        matchConstraints=rules("configmaps"),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    assert not warned(
        "params.nope == 1 && object.data == {}",
        matchConstraints=rules("configmaps"),
        paramKind={"apiVersion": "a/b/c", "kind": "ConfigMap"},
    )


def test_variables_are_typed_for_each_kind() -> None:
    found = warned(
        "variables.r > 'x'",
        matchConstraints=rules("deployments", "daemonsets", group="apps"),
        variables=[{"name": "r", "expression": "object.spec.replicas"}],
    )
    assert [warning.partition(": ")[0] for _, warning in found] == ["apps/v1, Kind=Deployment"]


def test_custom_kinds() -> None:
    crd = definition({"type": "object", "properties": {"x": {"type": "integer"}}})
    catalog = known_resources().with_crds([crd])
    checker = TypeChecker(catalog, custom_schemas(crd))
    given = policy(
        matchConstraints=rules("gizmos", group="example.com"),
        validations=[{"expression": "object.x == 'a'"}],
    )
    (found,) = checker.warnings(given, 7)
    assert found.warning.startswith("example.com/v1, Kind=Gizmo: ERROR")
    assert checker.schema(GroupVersionKind("example.com", "v1", "Gizmo")) is not None


def test_the_old_object_has_the_type_too() -> None:
    warned_of = [text for _, text in warned("oldObject.spec.nope == 1", "oldObject == object")]
    assert len(warned_of) == 1
    assert "undefined field 'nope'" in warned_of[0]


def test_each_kind_has_a_type_of_its_own() -> None:
    """Numbered from that of the policy on: the object's kinds first, then the params'."""
    given = rules("pods", "configmaps", "podlists", "CONFIGMAP")
    param_kind = {"apiVersion": "v1", "kind": "Secret"}
    (_, text), (_, about_params) = warned(
        "object == 1", "params == 1", matchConstraints=given, paramKind=param_kind
    )
    assert [name in text for name in ("(ConfigMap7, int)", "(Pod8, int)", "(PodList9, int)")] == [
        True,
        True,
        True,
    ]
    assert "(Secret10, int)" in about_params
