"""Kyverno's conditions and JMESPath as expressions."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate.kyverno.conditions import operations_of
from tests.migrate.kyverno.policy_documents import (
    kyverno_policy,
    pod,
    result,
    rule,
    translated,
    validation,
)


def denied(key: Json, operator: str, value: Json) -> str:
    """What a rule demands that denies where a condition holds."""
    condition = {"key": key, "operator": operator, "value": value}
    return validation({"deny": {"conditions": {"all": [condition]}}})


NETWORK = "request.object.spec.hostNetwork"
CAPABILITIES = "request.object.spec.containers[].securityContext.capabilities.add[]"


@pytest.mark.parametrize(
    ("key", "operator", "value", "expression"),
    [
        (
            f"{{{{ {NETWORK} }}}}",
            "Equals",
            True,
            "!has(object.spec.hostNetwork) || !object.spec.hostNetwork",
        ),
        (
            "{{ request.object.metadata.ownerReferences || `[]` }}",
            "Equals",
            [],
            "has(object.metadata.ownerReferences) && size(object.metadata.ownerReferences) > 0",
        ),
        (
            '{{ request.object.metadata.labels.team || "" }}',
            "Equals",
            "a",
            "!object.metadata.?labels[?'team'].hasValue() || object.metadata.labels['team'] != 'a'",
        ),
        (
            "{{ request.object.metadata.labels.team || '' }}",
            "Equals",
            "",
            "object.metadata.?labels[?'team'].orValue('') != ''",
        ),
        (
            "{{ request.object.metadata.annotations.\"a/b\" || 'none' }}",
            "NotEquals",
            "x*",
            "object.metadata.?annotations[?'a/b'].orValue('none').startsWith('x')",
        ),
        (
            "{{ request.object.spec.containers[] | length(@) }}",
            "GreaterThan",
            4,
            "size(object.spec.containers) <= 4",
        ),
        (
            "{{ request.object.spec.volumes || `[]` | length(@) }}",
            "GreaterThan",
            0,
            "!has(object.spec.volumes) || size(object.spec.volumes) == 0",
        ),
        (
            "{{ request.object.spec.volumes[?hostPath] | length(@) }}",
            "Equals",
            0,
            "object.spec.?volumes.orValue([]).exists(volume, has(volume.hostPath))",
        ),
        (
            f"{{{{ {CAPABILITIES} }}}}",
            "AnyNotIn",
            ["CHOWN", "KILL"],
            "object.spec.containers.all(container, "
            "container.?securityContext.?capabilities.?add.orValue([]).all(add, "
            "add in ['CHOWN', 'KILL']))",
        ),
        (
            "ALL",
            "AnyNotIn",
            "{{ request.object.spec.containers[].securityContext.capabilities.drop[] }}",
            "object.spec.containers.exists(container, "
            "'ALL' in container.?securityContext.?capabilities.?drop.orValue([]))",
        ),
        (
            "{{ regex_match('^v[0-9]+$', request.object.metadata.labels.version || '') }}",
            "Equals",
            False,
            "object.metadata.?labels[?'version'].orValue('').matches('^v[0-9]+$')",
        ),
        (
            "{{ keys(request.object.spec) | contains(@, 'volumes') }}",
            "Equals",
            True,
            "!has(object.spec.volumes)",
        ),
        (
            "{{ request.object.spec.containers[?readinessProbe==livenessProbe] | length(@) }}",
            "GreaterThan",
            0,
            "object.spec.containers.all(container, "
            "container.?readinessProbe != container.?livenessProbe)",
        ),
        (
            "{{ request.object.metadata.ownerReferences[0].kind || '' }}",
            "NotEquals",
            "CronJob",
            "object.metadata.?ownerReferences[?0].?kind.orValue('') == 'CronJob'",
        ),
        (
            "{{ request.object.metadata.annotations.values(@)[].regex_match('root', @) }}",
            "AnyIn",
            [True],
            "object.metadata.?annotations.orValue({}).all(key, "
            "!object.metadata.annotations[key].matches('root'))",
        ),
    ],
)
def test_texts(key: Json, operator: str, value: Json, expression: str) -> None:
    assert denied(key, operator, value) == expression


@pytest.mark.parametrize(
    ("key", "denied_labels"),
    [
        ("regex_match('^v', {} || 'v1')", [None, "", "v1", "v2"]),
        ("regex_match('^v', {} || '')", ["v1", "v2"]),
        ("starts_with({} || 'v1', 'v')", [None, "", "v1", "v2"]),
        ("to_upper({} || 'v1') == 'V1'", [None, "", "v1"]),
        ("split({} || 'a/v', '/')[1] == 'v'", [None, "", "b/v"]),
    ],
)
def test_what_is_empty_gives_way_as_what_is_absent(key: str, denied_labels: list[Any]) -> None:
    text = key.format("request.object.metadata.labels.version")
    condition = {"key": f"{{{{ {text} }}}}", "operator": "Equals", "value": True}
    found = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    assert not found.reason
    given = [None, "", "v1", "v2", "b/v", "a"]
    objects = {one: pod(**({} if one is None else {"labels": {"version": one}})) for one in given}
    assert [one for one in given if result(found, objects[one]) == "fail"] == denied_labels


def test_what_is_absent_equals_nothing() -> None:
    probe = {"exec": {"command": ["a"]}}
    key, value = (
        f"{{{{ request.object.spec.containers[1].{one}Probe }}}}"
        for one in ("liveness", "readiness")
    )
    condition = {"key": key, "operator": "Equals", "value": value}
    found = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    container = {"name": "c", "image": "a", "livenessProbe": probe, "readinessProbe": probe}
    assert result(found, pod()) == "pass"
    assert result(found, pod({"containers": [container] * 2})) == "fail"


@pytest.mark.parametrize(
    ("key", "operator", "value", "reason"),
    [
        ("{{ random('[a-z]') }}", "Equals", "x", "the function `random`"),
        ("{{ request.object.spec..x }}", "Equals", "x", "is no JMESPath"),
        ("{{ request.name }}", "Resembles", "x", "the operator `Resembles`"),
        ("a* {{ request.name }}", "Equals", "x", "a text with variables and wildcards in it"),
        ("{{ request.roles }}", "AnyIn", ["x"], "`roles`, which admission policies do not see"),
    ],
)
def test_what_has_no_equal_is_said(key: Json, operator: str, value: Json, reason: str) -> None:
    condition = {"key": key, "operator": operator, "value": value}
    found = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    assert reason in found.reason
    assert not found.policies


BACKGROUND = "{{ request.operation || 'BACKGROUND' }}"


def on(operator: str, value: Json) -> dict[str, Json]:
    """A condition on the operation."""
    return {"key": BACKGROUND, "operator": operator, "value": value}


OTHER: dict[str, Json] = {"key": "{{ request.name }}", "operator": "Equals", "value": "x"}


@pytest.mark.parametrize(
    ("preconditions", "operations", "left"),
    [
        (None, None, 0),
        ({"all": [on("NotEquals", "DELETE")]}, ("CREATE", "UPDATE", "CONNECT"), 0),
        ({"all": [on("AnyIn", ["CREATE", "UPDATE"])]}, ("CREATE", "UPDATE"), 0),
        ({"any": [on("Equals", "UPDATE")]}, ("UPDATE",), 0),
        ([on("Equals", "CREATE"), OTHER], ("CREATE",), 1),
        ({"any": [on("Equals", "UPDATE"), OTHER]}, None, 2),
    ],
)
def test_conditions_on_the_operation_are_operations(
    preconditions: Any, operations: tuple[str, ...] | None, left: int
) -> None:
    found, rest = operations_of(preconditions)
    assert found == operations
    assert isinstance(rest, dict)
    assert sum(len(one) for one in rest.values()) == left


def test_elements_of_lists() -> None:
    each = {
        "list": "request.object.spec.[initContainers, containers][]",
        "preconditions": {
            "all": [{"key": "{{ element.name }}", "operator": "NotEquals", "value": "db"}]
        },
        "deny": {
            "conditions": {
                "any": [{"key": "{{ element.image }}", "operator": "Equals", "value": "*:latest"}]
            }
        },
    }
    found = translated(kyverno_policy(rule({"foreach": [each]})))
    assert result(found, pod()) == "pass"
    assert result(found, pod({"initContainers": [{"name": "i", "image": "a:latest"}]})) == "fail"
    assert result(found, pod({"containers": [{"name": "db", "image": "a:latest"}]})) == "skip"


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("no", {"message": "no"}),
        ("no,\n  never", {"message": "no, never"}),
        (
            "{{ request.object.metadata.name }} is wrong",
            {"messageExpression": "object.metadata.name + ' is wrong'"},
        ),
        ("{{ images.x }} is wrong", {"message": "(images.x) is wrong"}),
        ("", {"message": "rule r is not fulfilled"}),
    ],
)
def test_messages(message: str, written: JsonObject) -> None:
    validate = {"message": message, "pattern": {"spec": {"hostNetwork": False}}}
    (policy,) = translated(kyverno_policy(rule(validate))).policies
    (one,) = policy["spec"]["validations"]
    assert {name: text for name, text in one.items() if name != "expression"} == written


@pytest.mark.parametrize(
    ("more", "operations"),
    [
        ({}, ["CREATE", "UPDATE"]),
        ({"preconditions": {"all": [on("NotEquals", "DELETE")]}}, ["CREATE", "UPDATE"]),
        ({"preconditions": {"all": [on("Equals", "DELETE")]}}, ["DELETE"]),
        ({"preconditions": {"any": [on("AnyIn", ["UPDATE", "DELETE"])]}}, ["UPDATE", "DELETE"]),
        (
            {"validate": {"deny": {"conditions": {"any": [on("Equals", "DELETE")]}}}},
            ["CREATE", "UPDATE", "DELETE"],
        ),
    ],
)
def test_operations(more: dict[str, Any], operations: list[str]) -> None:
    given = {**rule({"deny": {}}), **more}
    (policy,) = translated(kyverno_policy(given)).policies
    (resources,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert resources["operations"] == operations


def container(name: str, image: str, **more: Json) -> dict[str, Json]:
    """A container of a Pod."""
    return {"name": name, "image": image, **more}


@pytest.mark.parametrize(
    ("key", "operator", "value", "spec", "found"),
    [
        # Deprecated operators: of a list all must be in, or one must not be.
        ("{{ request.object.spec.containers[].name }}", "In", ["a", "b"], ["a"], "fail"),
        ("{{ request.object.spec.containers[].name }}", "In", ["a", "b"], ["a", "c"], "pass"),
        ("{{ request.object.spec.containers[].name }}", "NotIn", ["a", "b"], ["a", "c"], "fail"),
        ("{{ request.object.spec.containers[].name }}", "NotIn", ["a", "b"], ["a"], "pass"),
        # A field that is false is there.
        (
            "{{ request.object.spec.containers[?tty == `false`] | length(@) }}",
            "GreaterThan",
            0,
            ["a"],
            "pass",
        ),
        ("{{ request.namespace || 'none' }}", "Equals", "none", ["a"], "pass"),
    ],
)
def test_answers(key: str, operator: str, value: Json, spec: list[str], found: str) -> None:
    condition = {"key": key, "operator": operator, "value": value}
    translation = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    assert not translation.reason
    containers = [container(name, "x") for name in spec]
    assert result(translation, pod({"containers": containers})) == found


def test_items_of_two_lists_keep_their_names_apart() -> None:
    """An element is compared with the containers of the Pod, which would be called as it is."""
    same = "{{ request.object.spec.containers[?name == '{{ element.image }}'] | length(@) }}"
    each = {
        "list": "request.object.spec.containers",
        "deny": {"conditions": {"all": [{"key": same, "operator": "GreaterThan", "value": 0}]}},
    }
    found = translated(kyverno_policy(rule({"foreach": [each]})))
    assert not found.reason
    one, other = container("a", "b"), container("b", "c")
    assert result(found, pod({"containers": [one]})) == "pass"
    assert result(found, pod({"containers": [one, other]})) == "fail"


def test_lists_whose_items_have_one_name_are_not_told_apart() -> None:
    condition = {
        "key": "{{ request.object.spec.containers[].name }}",
        "operator": "AnyIn",
        "value": "{{ request.object.spec.initContainers[].name }}",
    }
    found = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    assert found.reason == "lists in each other whose items have one name"


def test_a_pattern_of_the_whole_object_for_each_element() -> None:
    """With `elementScope: false`, an element is only a variable of it."""
    mounted = {"volumeMounts": [{"(name)": "{{ element.name }}", "mountPath": "/tmp/*"}]}
    entry = {
        "list": "request.object.spec.volumes[?contains(keys(@), 'emptyDir')]",
        "elementScope": False,
        "pattern": {"spec": {"containers": [mounted]}},
    }
    found = translated(kyverno_policy(rule({"message": "no", "foreach": [entry]})))
    assert not found.reason
    for path, expected in (("/tmp/a", "pass"), ("/var/a", "fail")):
        mounts = [{"name": "v", "mountPath": path}, {"name": "w", "mountPath": "/w"}]
        container = {"name": "c", "image": "i", "volumeMounts": mounts}
        volumes = [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "x"}}]
        assert result(found, pod({"containers": [container], "volumes": volumes})) == expected


@pytest.mark.parametrize(
    ("key", "value", "operations", "expression"),
    [
        # Nothing was there before it was created, so nothing can be the same.
        (
            "{{ request.oldObject.spec.nodeName || '' }}",
            "a",
            ["UPDATE"],
            "oldObject.spec.?nodeName.orValue('') != 'a'",
        ),
        (
            "{{ request.oldObject.spec.nodeName || '' }}",
            "",
            ["CREATE", "UPDATE"],
            "request.operation != 'CREATE' && oldObject.spec.?nodeName.orValue('') != ''",
        ),
    ],
)
def test_what_was_there_before_is_absent_where_objects_are_created(
    key: str, value: str, operations: list[str], expression: str
) -> None:
    deny = {"conditions": {"any": [{"key": key, "operator": "Equals", "value": value}]}}
    (policy,) = translated(kyverno_policy(rule({"deny": deny}))).policies
    (resource_rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert resource_rule["operations"] == operations
    assert policy["spec"]["validations"][0]["expression"] == expression
