"""Functions of JMESPath in conditions: what CEL says of an object is what Kyverno computes."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation
from celadon.kube import Json
from celadon.migrate import Translation
from celadon.migrate.kyverno.jmespath_functions import FUNCTIONS, NO_EQUAL
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, result, rule, translated

OF: dict[str, Any] = pod(
    {
        "containers": [
            {
                "name": "web",
                "image": "ghcr.io/a/web:1.2",
                "ports": [{"containerPort": 80}, {"containerPort": 8080}],
                "resources": {"limits": {"memory": "2Gi"}, "requests": {"memory": "1Gi"}},
            },
            {"name": "log", "image": "log:2", "ports": [{"containerPort": 443}]},
        ],
        "priority": 7,
        "hostNetwork": True,
    },
    labels={"app": "Web-1", "version": "v1.4.2", "size": "12", "on": "TRUE", "app2": "x"},
    annotations={
        "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-01T02:00:00+01:00",
        "app2": "x",
    },
)
_SHORT = {
    "LABELS": "request.object.metadata.labels",
    "NOTES": "request.object.metadata.annotations",
    "C": "request.object.spec.containers",
}


@pytest.mark.parametrize(
    ("expression", "operator", "value"),
    [
        ("abs(subtract(`3`, request.object.spec.priority))", "Equals", 4),
        ("add(request.object.spec.priority, `3`)", "Equals", 10),
        ("add(C[0].resources.limits.memory, '512Mi')", "Equals", "2560Mi"),
        ("avg(C[].ports[0].containerPort)", "Equals", 261.5),
        ("ceil(divide(request.object.spec.priority, `2`))", "Equals", 4),
        ("compare(C[0].name, C[1].name)", "Equals", 1),
        ("contains(C[].name, 'log')", "Equals", True),
        ("contains(C[0].image, C[0].name)", "Equals", True),
        ("divide(C[0].resources.limits.memory, C[0].resources.requests.memory)", "Equals", 2),
        ("divide('{{ C[0].resources.limits.memory || '0' }}', '1Gi')", "Equals", 2),
        ("ends_with(C[0].image, ':1.2')", "Equals", True),
        ("equal_fold(LABELS.app, 'wEB-1')", "Equals", True),
        ("floor(divide(request.object.spec.priority, `2`))", "Equals", 3),
        ("items(LABELS, 'key', 'value')[?key == 'app'].value", "AnyIn", ["Web-1"]),
        ("join('+', C[].name)", "Equals", "web+log"),
        ("join('+', [C[0].name, 'x'])", "Equals", "web+x"),
        ('label_match(`{"app2": "x"}`, LABELS)', "Equals", True),
        ("length(C[].ports[])", "Equals", 3),
        ("lookup(LABELS, 'app')", "Equals", "Web-1"),
        ("lookup(C, `1`).name", "Equals", "log"),
        ("map(&to_upper(name), C)", "AllIn", ["WEB", "LOG"]),
        ("max(C[].ports[].containerPort)", "Equals", 8080),
        ("max([to_number(LABELS.size), to_number('11')])", "Equals", 12),
        ("max_by(C, &name).image", "Equals", "ghcr.io/a/web:1.2"),
        ("merge(LABELS, NOTES).start", "Equals", "2026-01-01T00:00:00Z"),
        ("min(C[].name)", "Equals", "log"),
        ("min_by(C, &name).image", "Equals", "log:2"),
        ("modulo(request.object.spec.priority, `4`)", "Equals", 3),
        ("multiply(request.object.spec.priority, `2`)", "Equals", 14),
        ("not_null(LABELS.none, LABELS.app, 'x')", "Equals", "Web-1"),
        ("pattern_match('*:1.?', C[0].image)", "Equals", True),
        ("regex_match('^[a-z.]+/', C[0].image)", "Equals", True),
        ("replace(C[0].image, '/', '_', `1`)", "Equals", "ghcr.io_a/web:1.2"),
        ("replace_all(C[0].image, '/', '_')", "Equals", "ghcr.io_a_web:1.2"),
        ("reverse(C)[0].name", "Equals", "log"),
        ("round(request.object.spec.priority, `0`)", "Equals", 7),
        ("semver_compare(trim_prefix(LABELS.version, 'v'), '>=1.4.0 <2.0.0')", "Equals", True),
        ("sort(C[].name)[0]", "Equals", "log"),
        ("sort(C[].name)[-1]", "Equals", "web"),
        ("sort_by(C, &name)[0].image", "Equals", "log:2"),
        ("split(C[0].image, '/')[-1]", "Equals", "web:1.2"),
        ("split(C[0].image, '/')", "AnyIn", ["a"]),
        ("starts_with(C[0].image, 'ghcr.io/')", "Equals", True),
        ("subtract(C[0].resources.limits.memory, '1Gi')", "GreaterThanOrEquals", "1Gi"),
        ("sum(C[].ports[].containerPort)", "Equals", 8603),
        ("time_after(NOTES.end, NOTES.start)", "Equals", True),
        ("time_between(NOTES.end, NOTES.start, '2027-01-01T00:00:00Z')", "Equals", True),
        ("time_diff(NOTES.start, NOTES.end)", "Equals", "1h"),
        ("time_diff(NOTES.start, NOTES.end)", "GreaterThan", 60),
        ("to_boolean(LABELS.on)", "Equals", True),
        ("to_number(LABELS.size)", "GreaterThan", 11),
        ("to_string(request.object.spec.hostNetwork)", "Equals", "true"),
        ("trim(LABELS.app, '1W')", "Equals", "eb-"),
        ("trim_prefix(LABELS.version, 'v')", "Equals", "1.4.2"),
        ("truncate(LABELS.version, `2`)", "Equals", "v1"),
        ("type(LABELS)", "Equals", "object"),
        ("values(LABELS)", "AnyIn", ["Web-1"]),
        ("LABELS.*", "AnyIn", ["Web-1"]),
        ("C[].{n: name, i: image}[?n == 'log'].i", "AnyIn", ["log:2"]),
        ("(request.object || request.oldObject).metadata.labels.app", "Equals", "Web-1"),
        ("LABELS.app}}/{{C[1].name", "Equals", "Web-1/log"),
    ],
)
def test_functions(expression: str, operator: str, value: Json) -> None:
    found = _denying(expression, operator, value)
    assert not found.reason
    (policy,) = found.policies
    text = policy["spec"]["validations"][0]["expression"]
    assert result(found, OF) == "fail", text
    assert result(found, pod()) == "pass", text


@pytest.mark.parametrize(
    ("expression", "operator", "value"),
    [
        ("label_match(NOTES, LABELS)", "Equals", False),
        ('merge(LABELS, `{"app": "b"}`).app', "Equals", "b"),
        ("not_null(LABELS.none, 'x')", "Equals", "x"),
        ("semver_compare(LABELS.version, '>0.0.0')", "Equals", False),
        ("time_before(time_add(NOTES.start, '2h'), NOTES.end)", "Equals", False),
        ("to_string(request.object.spec.priorityClassName)", "Equals", "null"),
        ("type(C[].name)", "Equals", "array"),
        ("type(LABELS.none)", "Equals", "null"),
    ],
)
def test_what_also_holds_of_other_pods(expression: str, operator: str, value: Json) -> None:
    found = _denying(expression, operator, value)
    assert not found.reason
    assert result(found, OF) == "fail"


def _denying(expression: str, operator: str, value: Json) -> Translation:
    for short, path in _SHORT.items():
        expression = expression.replace(f"{short}[", f"{path}[").replace(f"{short}.", f"{path}.")
        for before, after in (("(", ","), ("(", ")"), (" ", ","), (" ", ")")):
            expression = expression.replace(f"{before}{short}{after}", f"{before}{path}{after}")
    condition = {"key": f"{{{{ {expression} }}}}", "operator": operator, "value": value}
    return translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))


@pytest.mark.parametrize(
    "expression",
    [
        "join('-', [request.namespace, '*'])",
        "replace_all(request.namespace, 'a', '?')",
        "request.namespace}}-*{{request.namespace",
    ],
)
def test_wildcards_that_a_text_gets_are_none_here(expression: str) -> None:
    found = _denying("request.object.metadata.name", "Equals", f"{{{{ {expression} }}}}")
    assert found.reason == "a text with variables and wildcards in it"


@pytest.mark.parametrize("name", sorted(NO_EQUAL))
def test_what_has_no_equal_says_what_to_do_instead(name: str) -> None:
    condition = {"key": f"{{{{ {name}('a') }}}}", "operator": "Equals", "value": "a"}
    found = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    assert found.reason == f"the function `{name}`"
    assert found.instead == NO_EQUAL[name]


def test_merged_labels_are_compared_beside_the_label_that_both_have_replaced() -> None:
    same = "metadata.labels || `{}` | merge(@, {breakglass: null})"
    condition = {
        "key": f"{{{{ request.object.{same} }}}}",
        "operator": "NotEquals",
        "value": f"{{{{ request.oldObject.{same} }}}}",
    }
    match = {"any": [{"resources": {"kinds": ["Pod"], "operations": ["UPDATE"]}}]}
    denied = rule({"deny": {"conditions": {"all": [condition]}}}) | {"match": match}
    found = translated(kyverno_policy(denied))
    old = pod(labels={"a": "b", "breakglass": "no"})
    for labels, verdict in (
        ({"a": "b", "breakglass": "yes"}, "pass"),
        ({"a": "c", "breakglass": "no"}, "fail"),
        ({"breakglass": "no"}, "fail"),
        ({"a": "b"}, "pass"),
    ):
        changed = pod(labels=labels)
        assert result(found, changed, operation=Operation.UPDATE, old=old) == verdict


def test_a_function_is_translated_or_is_not() -> None:
    assert not set(FUNCTIONS) & set(NO_EQUAL)
    assert all(NO_EQUAL.values())
