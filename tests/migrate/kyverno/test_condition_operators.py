"""Kyverno's operators: the translation of a condition decides as Kyverno does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jmespath.exceptions import JMESPathError

from celadon.kube import Json
from tests.migrate.kyverno.condition_evaluator import NotResolvedError, holds
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, result, rule, translated

TTL = "{{ request.object.metadata.labels.ttl || '1h' }}"
TEAM = "{{ request.object.metadata.labels.team || '' }}"
PRIORITY = "{{ request.object.spec.priority }}"
HOST_NETWORK = "{{ request.object.spec.hostNetwork || `false` }}"
TEAM_OR = "{{ request.object.metadata.labels.team || 'none' }}"
OTHER_OR = "{{ request.object.metadata.labels.other || 'none' }}"
OWNERS = "{{ request.object.metadata.ownerReferences || `[]` }}"


@pytest.mark.parametrize(
    ("key", "operator", "value", "obj", "is_denied"),
    [
        # A text that is a duration is compared with a number of seconds, no other text is.
        (TTL, "LessThan", 80, pod(labels={"ttl": "60s"}), True),
        (TTL, "LessThan", 80, pod(labels={"ttl": "2h"}), False),
        (TTL, "GreaterThan", 0, pod(labels={"ttl": "5"}), True),
        (TTL, "GreaterThan", 0, pod(labels={"ttl": "5Gi"}), False),
        (TEAM, "Equals", 5, pod(labels={"team": "5"}), False),
        (TTL, "Equals", "60m", pod(labels={}), True),
        (TTL, "GreaterThan", "1h", pod(labels={"ttl": "3601"}), True),
        # Two texts, each with another that stands for it where it is absent or empty.
        (TEAM_OR, "NotEquals", OTHER_OR, pod(), False),
        (TEAM_OR, "NotEquals", OTHER_OR, pod(labels={"team": "a"}), True),
        (TEAM_OR, "Equals", OTHER_OR, pod(labels={"team": "a", "other": "a"}), True),
        (TEAM_OR, "Equals", OTHER_OR, pod(labels={"other": ""}), True),
        (TEAM_OR, "Equals", OTHER_OR, pod(labels={"team": "", "other": "none"}), True),
        (TEAM, "Equals", OTHER_OR, pod(labels={"team": "none"}), True),
        (TEAM, "NotEquals", OTHER_OR, pod(labels={"team": "a", "other": "a"}), False),
        # A number is compared with texts that are numbers or durations, not with quantities.
        (PRIORITY, "LessThanOrEquals", "1Gi", pod({"priority": 1}), False),
        (PRIORITY, "LessThanOrEquals", "1m", pod({"priority": 60}), True),
        (PRIORITY, "Equals", "60", pod({"priority": 60}), True),
        (PRIORITY, "Equals", "1m", pod({"priority": 60}), False),
        ("5", "Equals", TEAM, pod(labels={"team": "5"}), True),
        # Texts are numbers as Go reads them, not Python.
        (PRIORITY, "Equals", "1_0", pod({"priority": 10}), False),
        (PRIORITY, "Equals", " 10", pod({"priority": 10}), False),
        (PRIORITY, "GreaterThan", "1_0", pod({"priority": 20}), False),
        (TTL, "GreaterThan", 999, pod(labels={"ttl": "1e3"}), True),
        (TEAM, "AnyIn", "NaN", pod(labels={"team": "NaN"}), True),
        # A quantity matches no wildcard.
        (TEAM, "Equals", "*", pod(labels={"team": "a"}), True),
        (TEAM, "Equals", "*", pod(labels={"team": "5"}), False),
        (TEAM, "NotEquals", "5*", pod(labels={"team": "50"}), True),
        # There is no order of what is neither a number nor a text.
        (HOST_NETWORK, "LessThan", "Job", pod(), False),
        (HOST_NETWORK, "LessThanOrEquals", True, pod({"hostNetwork": True}), False),
        (TEAM, "GreaterThan", ["a"], pod(labels={"team": "b"}), False),
        # Nothing but numbers is in a range; items of a list are no ranges.
        (PRIORITY, "AnyIn", "0-10", pod({"priority": 5}), True),
        (PRIORITY, "AnyIn", ["0-10"], pod({"priority": 5}), False),
        (PRIORITY, "AllNotIn", [True], pod({"priority": 1}), True),
        (PRIORITY, "AnyIn", ["5*"], pod({"priority": 55}), True),
        (PRIORITY, "AnyIn", ["5*"], pod({"priority": 65}), False),
        (TEAM, "AnyIn", '["a", "b"]', pod(labels={"team": "b"}), True),
    ],
)
def test_operators(
    key: Json, operator: str, value: Json, obj: dict[str, Any], *, is_denied: bool
) -> None:
    condition = {"key": key, "operator": operator, "value": value}
    translation = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    if translation.reason == "a demand that every object fulfils":
        assert not is_denied
        return
    assert not translation.reason
    assert result(translation, obj) == ("fail" if is_denied else "pass")


@pytest.mark.parametrize(
    ("key", "operator", "value", "reason"),
    [
        (TEAM, "LessThan", "1.2.3", "versions compared by their order"),
        (OWNERS, "AnyIn", ["a"], "an item that is no single value"),
        (OWNERS, "NotEquals", ["a"], "a whole list or map compared with another"),
        (TEAM, "AnyIn", "80", "`80` as a list: Kyverno reads it as JSON, which is none"),
        (TEAM, "AnyIn", "1-2", "a range that is no range of numbers"),
        (
            "{{ request.object.spec.containers[0].resources.limits.cpu || '1' }}",
            "GreaterThan",
            1,
            "a quantity compared with a number, not with a text",
        ),
    ],
)
def test_what_kyverno_alone_can_compare(key: Json, operator: str, value: Json, reason: str) -> None:
    condition = {"key": key, "operator": operator, "value": value}
    found = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    assert found.reason == reason


_OPERATORS = [
    "Equals", "NotEquals", "AnyIn", "AllIn", "AnyNotIn", "AllNotIn",
    "GreaterThan", "GreaterThanOrEquals", "LessThan", "LessThanOrEquals",
]  # fmt: skip
_KEYS = [
    "request.namespace",
    "request.object.metadata.name",
    "request.object.metadata.labels.team || ''",
    "request.object.metadata.labels.team || 'none'",
    "request.object.metadata.labels.ttl || '1h'",
    "keys(request.object.metadata.labels)",
    "request.object.metadata.ownerReferences || `[]`",
    "request.object.metadata.ownerReferences[0].kind || ''",
    "request.object.spec.containers | length(@)",
    "request.object.spec.containers[*].ports[].hostPort || `[]`",
    "request.object.spec.containers[?name=='a'].image | [0] || ''",
    "request.object.spec.containers[?tty == `true`].name | length(@)",
    "request.object.spec.containers[].image",
    "request.object.spec.containers[].ports[].containerPort",
    "request.object.spec.containers[].ports[].protocol",
    "request.object.spec.containers[].securityContext.runAsUser",
    "request.object.spec.containers[].tty",
    "request.object.spec.containers[0].resources.limits.memory || '0'",
    "request.object.spec.[containers, initContainers][].securityContext.capabilities.add[]",
    "request.object.spec.hostNetwork || `false`",
    "request.object.spec.nodeSelector || `{}`",
    "request.object.spec.priority",
    "request.object.spec.priority || `0`",
    "request.object.spec.securityContext.runAsUser || `0`",
    "request.object.spec.serviceAccountName || 'default'",
    "request.object.spec.volumes[?hostPath] | length(@)",
    "request.object.spec.volumes[].keys(@)[] || ''",
    "request.object.spec.volumes[].name || `[]`",
    *(
        text.replace("TEAM", "request.object.metadata.labels.team").replace(
            "CONTAINERS", "request.object.spec.containers"
        )
        for text in (
            "abs(request.object.spec.priority)",
            "add(request.object.spec.priority, `1`)",
            "avg(CONTAINERS[0].ports[].containerPort)",
            "CONTAINERS[-1].image",
            "CONTAINERS[].image | [0]",
            "compare(TEAM, 'b')",
            "contains(CONTAINERS[].image, request.object.metadata.name)",
            "divide(request.object.spec.priority, `2`)",
            "divide(CONTAINERS[0].resources.limits.memory, '1Gi')",
            "ends_with(TEAM, 'c')",
            "items(request.object.metadata.labels, 'k', 'v')[?k == 'team'].v",
            "join('-', CONTAINERS[].name)",
            'keys(merge(request.object.metadata.labels, `{"x": "1"}`))',
            'label_match(`{"team": "a"}`, request.object.metadata.labels)',
            "length(CONTAINERS[].ports[])",
            "length(TEAM)",
            "lookup(request.object.metadata.labels, 'team')",
            "map(&to_upper(image), CONTAINERS)",
            "max(CONTAINERS[].image)",
            "max(CONTAINERS[].ports[].containerPort)",
            "max_by(CONTAINERS, &name).image",
            'merge(request.object.metadata.labels, `{"ttl": "1h"}`).ttl',
            "min(CONTAINERS[].ports[].hostPort)",
            "modulo(request.object.spec.priority, `3`)",
            "multiply(request.object.spec.priority, `2`)",
            "not_null(TEAM, request.object.metadata.labels.ttl, 'none')",
            "not_null(request.object.spec.priority, `80`)",
            "pattern_match('a*', TEAM)",
            "regex_match('^[a-b]$', TEAM)",
            "replace(TEAM, 'a', 'b', `1`)",
            "replace_all(TEAM, 'a', 'x')",
            "request.object.metadata.labels.*",
            "reverse(CONTAINERS)[0].name",
            "sort(CONTAINERS[].image)[0]",
            "sort(CONTAINERS[].image)[-1]",
            "split(CONTAINERS[0].image, ':')",
            "split(CONTAINERS[0].image, ':')[1]",
            "split(CONTAINERS[0].image, ':')[-1]",
            "starts_with(TEAM, 'a')",
            "subtract(request.object.spec.priority, `1`)",
            "sum(CONTAINERS[].ports[].containerPort)",
            "to_number(request.object.metadata.labels.ttl)",
            "to_string(request.object.spec.hostNetwork)",
            "to_string(request.object.spec.priority)",
            "to_upper(TEAM)",
            "trim(TEAM, 'ab')",
            "trim_prefix(TEAM, 'a')",
            "truncate(TEAM, `1`)",
            "type(TEAM)",
            "CONTAINERS[].{n: name, i: image}[?n == 'a'].i",
        )
    ),
]
_WORDS = ["a", "b", "abc", "none", "x"]
_VALUES: list[Json] = [
    *_WORDS, "*", "a*", "?*", "", "default", "TCP", "*:latest", "Job", "1", "80", "0-1000", "1-2",
    "1Gi", "500m", "512Mi", "1h", "30m", "30s", True, False, 0, 1, 2, 80, 1000,
    [], ["a"], ["a*", "b"], ["ALL"], ["CHOWN", "KILL"], [80, 443], ["80"], [1000], ["*"], [True],
    ["Job", "Deployment"], ["hostPath", "name"], ["nginx:*", "*:latest"],
    "{{ request.object.metadata.name }}", "{{ request.object.spec.containers[].name }}",
    "{{ request.object.metadata.labels.team || 'a' }}",
    "{{ request.object.metadata.labels.ttl || '' }}",
    "{{ request.object.spec.serviceAccountName || 'default' }}",
]  # fmt: skip
_condition = st.fixed_dictionaries(
    {
        "key": st.sampled_from(_KEYS).map("{{{{ {} }}}}".format),
        "operator": st.sampled_from(_OPERATORS),
        "value": st.sampled_from(_VALUES),
    }
)


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


_capabilities = st.lists(st.sampled_from(["ALL", "CHOWN", "KILL"]), min_size=1, max_size=2)
_container = st.builds(
    lambda must, may: must | may,
    st.fixed_dictionaries({"image": st.sampled_from(["a", "nginx:1", "nginx:latest"])}),
    _some(
        tty=st.just(True),
        ports=st.lists(
            st.builds(
                lambda port, may: {"containerPort": port} | may,
                st.sampled_from([80, 443, 1000]),
                _some(hostPort=st.sampled_from([80, 1000]), protocol=st.sampled_from(["TCP"])),
            ),
            min_size=1,
            max_size=2,
        ),
        resources=st.sampled_from(["1Gi", "512Mi", "2Gi"]).map(lambda m: {"limits": {"memory": m}}),
        securityContext=_some(
            runAsUser=st.sampled_from([0, 1, 1000]),
            capabilities=st.builds(lambda add: {"add": add}, _capabilities),
        ),
    ),
)
_spec = st.builds(
    lambda containers, init, may: {
        "containers": [{"name": "abc"[i], **one} for i, one in enumerate(containers)],
        **({"initContainers": [{"name": "i", **one} for one in init]} if init else {}),
        **may,
    },
    st.lists(_container, min_size=1, max_size=3),
    st.lists(_container, max_size=1),
    _some(
        hostNetwork=st.just(True),
        priority=st.sampled_from([0, 1, 80, 1000, 1800]),
        nodeSelector=st.just({"a": "b"}),
        securityContext=_some(runAsUser=st.sampled_from([0, 1000])),
        serviceAccountName=st.sampled_from(["default", "a"]),
        volumes=st.sampled_from(
            [[{"name": "a", "hostPath": {"path": "/a"}}], [{"name": "b", "emptyDir": {}}]]
        ),
    ),
)
_labels = st.dictionaries(
    st.sampled_from(["team", "ttl"]), st.sampled_from([*_WORDS, "1h", "60m", "30s", "5", "90"])
)
_owners = st.sampled_from(["Job", "ReplicaSet"]).map(
    lambda kind: [{"apiVersion": "v1", "kind": kind, "name": "a", "uid": "u"}]
)
_pod = st.builds(
    lambda spec, labels, may: pod(spec, **({"labels": labels} if labels else {}), **may),
    _spec,
    _labels,
    _some(ownerReferences=_owners),
)


@given(_condition, st.lists(_pod, min_size=1, max_size=6))
def test_the_translation_decides_as_kyverno_does(
    condition: dict[str, Json], objects: list[dict[str, Any]]
) -> None:
    translation = translated(kyverno_policy(rule({"deny": {"conditions": {"all": [condition]}}})))
    is_never = translation.reason == "a demand that every object fulfils"
    assume(is_never or not translation.reason)
    for obj in objects:
        request = {"object": obj, "namespace": "default", "name": "a", "operation": "CREATE"}
        try:
            expected = "fail" if holds(condition, request) else "pass"
        except (NotResolvedError, JMESPathError):
            continue
        assert ("pass" if is_never else result(translation, obj)) == expected, (condition, obj)
