"""Patterns as expressions: their texts, and that they decide as Kyverno does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from celadon.kube import Json
from tests.migrate.kyverno.pattern_evaluator import matched
from tests.migrate.kyverno.policy_documents import (
    kyverno_policy,
    pod,
    result,
    rule,
    translated,
    validation,
)


@pytest.mark.parametrize(
    ("pattern", "expression"),
    [
        (
            {"spec": {"hostNetwork": False}},
            "has(object.spec.hostNetwork) && !object.spec.hostNetwork",
        ),
        (
            {"spec": {"=(hostNetwork)": False}},
            "!has(object.spec.hostNetwork) || !object.spec.hostNetwork",
        ),
        (
            {"metadata": {"labels": {"team": "?*"}}},
            "object.metadata.?labels[?'team'].orValue('') != ''",
        ),
        (
            {"spec": {"containers": [{"image": "*:* & !*:latest"}]}},
            "object.spec.containers.all(container, has(container.image) && "
            "container.image.contains(':') && !container.image.endsWith(':latest'))",
        ),
        (
            {"spec": {"containers": [{"=(securityContext)": {"=(privileged)": "false"}}]}},
            "object.spec.containers.all(container, "
            "!container.?securityContext.?privileged.orValue(false))",
        ),
        (
            {"spec": {"=(volumes)": [{"X(hostPath)": "null"}]}},
            "object.spec.?volumes.orValue([]).all(volume, !has(volume.hostPath))",
        ),
        (
            {"spec": {"terminationGracePeriodSeconds": "10-60"}},
            "has(object.spec.terminationGracePeriodSeconds) && "
            "object.spec.terminationGracePeriodSeconds >= 10 && "
            "object.spec.terminationGracePeriodSeconds <= 60",
        ),
        (
            {"spec": {"containers": [{"resources": {"limits": {"memory": "<=1Gi"}}}]}},
            "object.spec.containers.all(container, has(container.resources) && "
            "has(container.resources.limits) && (!('memory' in container.resources.limits) || "
            "quantity(container.resources.limits['memory']).compareTo(quantity('1Gi')) <= 0))",
        ),
        (
            {"spec": {"=(runtimeClassName)": "prod | test"}},
            "!has(object.spec.runtimeClassName) || "
            "object.spec.runtimeClassName in ['prod', 'test']",
        ),
        (
            {"metadata": {"=(annotations)": {"X(*-snippet)": "?*"}}},
            "!has(object.metadata.annotations) || "
            "object.metadata.annotations.all(key, !key.endsWith('-snippet'))",
        ),
        (
            {"spec": {"serviceAccountName": "{{request.object.metadata.name}}"}},
            "has(object.spec.serviceAccountName) && "
            "object.metadata.name == object.spec.serviceAccountName",
        ),
    ],
)
def test_texts(pattern: Json, expression: str) -> None:
    assert validation({"pattern": pattern}) == expression


@pytest.mark.parametrize(
    ("pattern", "expression"),
    [
        (
            {"spec": {"=(securityContext)": {"=(runAsGroup)": ">0"}}},
            "object.spec.?securityContext.?runAsGroup.orValue(1) > 0",
        ),
        (
            {"spec": {"securityContext": {"runAsGroup": ">0"}}},
            "object.spec.?securityContext.?runAsGroup.orValue(0) > 0",
        ),
        (
            {"spec": {"=(securityContext)": {"=(runAsGroup)": "<=7"}}},
            "object.spec.?securityContext.?runAsGroup.orValue(0) <= 7",
        ),
        ({"spec": {"=(nodeName)": "a?*b*c"}}, "has(object.spec.nodeName)"),
        ({"spec": {"containers": [{"command": "!a"}]}}, "!('a' in container.command)"),
    ],
)
def test_parts_of_texts(pattern: Json, expression: str) -> None:
    assert expression in validation({"pattern": pattern})


@pytest.mark.parametrize(
    ("spec", "expression"),
    [
        # All lists of containers, also where something else stands between them.
        (
            {
                "=(initContainers)": [{"image": "a*"}],
                "containers": [{"image": "a*"}],
                "hostNetwork": True,
                "=(ephemeralContainers)": [{"image": "a*"}],
            },
            "variables.containers.all(container, "
            "has(container.image) && container.image.startsWith('a')) && "
            "has(object.spec.hostNetwork) && object.spec.hostNetwork",
        ),
        (
            {"=(securityContext)": {"=(seccompProfile)": {"=(type)": "A | B"}}},
            "object.spec.?securityContext.?seccompProfile.?type.orValue('A') in ['A', 'B']",
        ),
        (
            {"=(securityContext)": {"=(seLinuxOptions)": {"X(user)": "null"}}},
            "!object.spec.?securityContext.?seLinuxOptions.?user.hasValue()",
        ),
    ],
)
def test_plain_texts(spec: Json, expression: str) -> None:
    assert validation({"pattern": {"spec": spec}}) == expression


def test_any_text_that_is_not_empty_is_one_or_more_characters() -> None:
    assert "'^a.+b.*c$'" in validation({"pattern": {"spec": {"=(nodeName)": "a?*b*c"}}})


def test_what_is_said_of_all_containers_is_said_once() -> None:
    demanded = [{"=(securityContext)": {"=(privileged)": False}}]
    pattern = {
        "spec": {
            "=(ephemeralContainers)": demanded,
            "=(initContainers)": demanded,
            "containers": demanded,
        }
    }
    (policy,) = translated(kyverno_policy(rule({"pattern": pattern}))).policies
    assert policy["spec"]["variables"] == [
        {
            "name": "containers",
            "expression": "object.spec.containers + object.spec.?initContainers.orValue([]) + "
            "object.spec.?ephemeralContainers.orValue([])",
        }
    ]
    assert policy["spec"]["validations"][0]["expression"] == (
        "variables.containers.all(container, "
        "!container.?securityContext.?privileged.orValue(false))"
    )


def test_a_condition_cannot_name_the_containers() -> None:
    elements = "request.object.spec.[containers, initContainers][]"
    validate = {"foreach": [{"list": elements, "deny": {"conditions": {"all": [
        {"key": "{{ element.image }}", "operator": "Equals", "value": "a*"}
    ]}}, "preconditions": {"all": [
        {"key": "{{ element.name }}", "operator": "Equals", "value": "web"}
    ]}}]}  # fmt: skip
    (policy,) = translated(kyverno_policy(rule(validate))).policies
    (condition,) = policy["spec"]["matchConditions"]
    assert condition["expression"] == (
        "(object.spec.containers + object.spec.?initContainers.orValue([]))"
        ".exists(container, container.name == 'web')"
    )
    assert "variables.containers.all(container, " in policy["spec"]["validations"][0]["expression"]


def test_what_skips_a_rule_is_a_match_condition() -> None:
    pattern = {"spec": {"(hostNetwork)": True, "containers": [{"(name)": "web", "image": "a*"}]}}
    (policy,) = translated(kyverno_policy(rule({"pattern": pattern}))).policies
    (condition,) = policy["spec"]["matchConditions"]
    assert condition["expression"] == (
        "has(object.spec.hostNetwork) && object.spec.hostNetwork && "
        "object.spec.containers.exists(container, container.name == 'web')"
    )
    (validation,) = policy["spec"]["validations"]
    assert validation["expression"] == (
        "object.spec.containers.all(container, container.name != 'web' || "
        "has(container.image) && container.image.startsWith('a'))"
    )


# --- The property ------------------------------------------------------------

_TEXTS = ["a", "ab", "b:latest", "c:1", "10", "1Gi"]
_PATTERNS = ["*", "?*", "a*", "*b*", "!a", "a | b*", "!a & !*:*", "*:latest", ">5", "1-20", "!10"]
_BOOLS = [True, False, "true", "!true", "*"]
_NUMBERS = [0, 10, "10", ">5", "<=10", "5-20", "!10", "5!-9", "*", None]

_env = st.fixed_dictionaries(
    {"name": st.sampled_from(_TEXTS)}, optional={"value": st.sampled_from(_TEXTS)}
)
_security = st.fixed_dictionaries(
    {}, optional={"privileged": st.booleans(), "runAsUser": st.sampled_from([0, 7, 10, 1000])}
)
_container = st.fixed_dictionaries(
    {"name": st.sampled_from(_TEXTS)},
    optional={
        "image": st.sampled_from(_TEXTS),
        "securityContext": _security,
        "env": st.lists(_env, min_size=1, max_size=2),
    },
)
_object = st.builds(
    lambda spec, labels: pod(spec, **({"labels": labels} if labels else {})),
    st.fixed_dictionaries(
        {"containers": st.lists(_container, min_size=1, max_size=2)},
        optional={
            "hostNetwork": st.just(True),
            "initContainers": st.lists(_container, min_size=1, max_size=2),
            "activeDeadlineSeconds": st.sampled_from([1, 7, 10, 60]),
        },
    ),
    st.dictionaries(st.sampled_from(["app", "x/a", "x/b"]), st.sampled_from(_TEXTS), max_size=2),
)


def _anchored(names: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Patterns of some of these fields, each with an anchor or without."""

    def build(chosen: list[tuple[str, str, Any]]) -> dict[str, Any]:
        keys = {"": "{}", "(": "({})", "=": "=({})", "X": "X({})", "<": "<({})"}
        return {keys[kind].format(name): value for name, kind, value in chosen}

    one = st.sampled_from(sorted(names)).flatmap(
        lambda name: st.tuples(
            st.just(name), st.sampled_from(["", "", "(", "=", "X", "<"]), names[name]
        )
    )
    return st.lists(one, min_size=1, max_size=3, unique_by=lambda chosen: chosen[0]).map(build)


_of_env = _anchored({"name": st.sampled_from(_PATTERNS), "value": st.sampled_from(_PATTERNS)})
_of_security = _anchored(
    {"privileged": st.sampled_from(_BOOLS), "runAsUser": st.sampled_from(_NUMBERS)}
)
_of_container = _anchored(
    {
        "name": st.sampled_from(_PATTERNS),
        "image": st.sampled_from(_PATTERNS),
        "securityContext": _of_security,
        "env": _of_env.map(lambda one: [one]),
    }
)
_of_spec = _anchored(
    {
        "hostNetwork": st.sampled_from(_BOOLS),
        "containers": _of_container.map(lambda one: [one]),
        "initContainers": _of_container.map(lambda one: [one]),
        "activeDeadlineSeconds": st.sampled_from(_NUMBERS),
    }
)
_of_labels = _anchored({"app": st.sampled_from(_PATTERNS), "x/a": st.sampled_from(_PATTERNS)})
_pattern = st.fixed_dictionaries(
    {"spec": _of_spec}, optional={"metadata": _anchored({"labels": _of_labels})}
)


@given(_pattern, st.lists(_object, min_size=1, max_size=6))
def test_the_translation_decides_as_kyverno_does(pattern: Json, objects: list[Any]) -> None:
    translation = translated(kyverno_policy(rule({"pattern": pattern})))
    assume(translation.reason != "a demand that every object fulfils")
    assert not translation.reason
    for obj in objects:
        assert result(translation, obj) == matched(obj, pattern).value, (pattern, obj)


def test_a_variable_that_is_empty_is_nothing_absent() -> None:
    pattern = {"metadata": {"labels": {"owner": "{{ serviceAccountName }}"}}}
    found = translated(kyverno_policy(rule({"pattern": pattern})))
    assert result(found, pod()) == "fail"
    assert result(found, pod(labels={"owner": ""})) == "pass"


def test_a_default_alone_has_a_type() -> None:
    pattern = {"spec": {"=(securityContext)": {"=(runAsNonRoot)": True}}}
    text = validation({"pattern": pattern})
    assert text == "object.spec.?securityContext.?runAsNonRoot.orValue(true) == true"


def test_references_to_other_fields_are_not_taken_for_texts() -> None:
    memory = {"requests": {"memory": "<=$(./../../limits/memory)"}}
    found = translated(
        kyverno_policy(rule({"pattern": {"spec": {"containers": [{"resources": memory}]}}}))
    )
    assert found.reason == "a reference to another field (`$(…)`)"
    assert found.instead


@pytest.mark.parametrize("leaf", ["{{request.namespace}}-*", ">{{request.namespace}}", "!{{a}}"])
def test_variables_beside_operators(leaf: str) -> None:
    found = translated(kyverno_policy(rule({"pattern": {"spec": {"hostname": leaf}}})))
    assert found.reason == "a pattern with variables and operators in it"


def test_texts_with_variables() -> None:
    leaf = "{{request.namespace}}/{{request.object.metadata.name}}"
    found = translated(kyverno_policy(rule({"pattern": {"metadata": {"labels": {"a": leaf}}}})))
    assert result(found, pod(labels={"a": "default/a"})) == "pass"
    assert result(found, pod(labels={"a": "default/b"})) == "fail"
