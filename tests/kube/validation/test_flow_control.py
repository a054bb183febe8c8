"""What is said against FlowSchemas and priority levels."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.flowcontrol import (
    MANDATORY_LEVEL,
    MANDATORY_SCHEMAS,
    PRESERVED,
    typed_conditions,
)
from tests.kube.validation.objects import admitted, complaints, obj, update_complaints

Json = dict[str, Any]
GROUP = "flowcontrol.apiserver.k8s.io/v1"
USER = {"kind": "User", "user": {"name": "u"}}
URLS = {"verbs": ["*"], "nonResourceURLs": ["/a/*", "/"]}
RESOURCES = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["*"]}
QUEUES = {"queues": 64, "handSize": 6, "queueLengthLimit": 50}


def schema(name: str = "a", **spec: Any) -> Json:
    found = {"priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 5, **spec}
    return obj(GROUP, "FlowSchema", meta={"name": name}, spec=found)


def ruled(**fields: Any) -> Json:
    return schema(rules=[{"subjects": [USER], "nonResourceRules": [URLS], **fields}])


def level(name: str = "a", **spec: Any) -> Json:
    return obj(GROUP, "PriorityLevelConfiguration", meta={"name": name}, spec=spec)


def limited(**fields: Any) -> Json:
    return level(type="Limited", limited={"limitResponse": {"type": "Reject"}, **fields})


def queued(**fields: int) -> Json:
    return limited(limitResponse={"type": "Queue", "queuing": {**QUEUES, **fields}})


GOOD = [
    ruled(),
    ruled(resourceRules=[RESOURCES]),
    *(schema(name, **spec) for name, spec in MANDATORY_SCHEMAS.items()),
    level("catch-all", **MANDATORY_LEVEL),
    level("exempt", type="Exempt", exempt={}),
    queued(),
]
BAD_RULES = [
    ({"subjects": []}, ["subjects: Required value: subjects must contain at least one value"]),
    (
        {"nonResourceRules": []},
        [
            ": Required value: at least one of resourceRules and nonResourceRules has to be "
            "non-empty"
        ],
    ),
    (
        {"subjects": [{"kind": "x"}, {"kind": "Group", "user": {"name": "u"}}]},
        [
            'subjects[0].kind: Unsupported value: "x": supported values: "Group", '
            '"ServiceAccount", "User"',
            "subjects[1].group: Required value: group is required when subject kind is 'Group'",
            "subjects[1].user: Forbidden: user is forbidden when subject kind is not 'User'",
        ],
    ),
    (
        {"subjects": [{"kind": "ServiceAccount", "serviceAccount": {}}]},
        [
            "subjects[0].serviceAccount.name: Required value",
            "subjects[0].serviceAccount.namespace: Required value: must specify namespace for "
            "service account",
        ],
    ),
    (
        {"resourceRules": [{"verbs": ["x"], "apiGroups": ["*", "a"]}]},
        [
            'resourceRules[0].verbs: Unsupported value: ["x"]: supported values: "create", '
            '"delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
            'resourceRules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not '
            "specify other api groups",
            "resourceRules[0].resources: Required value: resource rules must supply at least one "
            "resource",
            "resourceRules[0].namespaces: Required value: resource rules that are not cluster "
            "scoped must supply at least one namespace",
        ],
    ),
    (
        {"resourceRules": [{**RESOURCES, "verbs": [], "namespaces": ["a.b"]}]},
        [
            "resourceRules[0].verbs: Required value: verbs must contain at least one value",
            'resourceRules[0].namespaces[0]: Invalid value: "a.b": each member of this list must '
            "be '*' or a DNS-1123 label; must not contain dots",
        ],
    ),
    (
        {"nonResourceRules": [
            {"verbs": ["*"], "nonResourceURLs": ["", "a", "/a b", "/a//b", "/a*"]},
            {"verbs": ["*", "get"], "nonResourceURLs": []}]},
        [
            'nonResourceRules[0].nonResourceURLs[0]: Invalid value: "": must not be empty',
            'nonResourceRules[0].nonResourceURLs[1]: Invalid value: "a": must start with slash',
            'nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a b": must not contain '
            "white-space",
            'nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a//b": must not contain '
            "double slash",
            'nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/a*": wildcard can only do '
            "suffix matching",
            'nonResourceRules[1].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not '
            "specify other verbs",
            "nonResourceRules[1].nonResourceURLs: Required value: nonResourceURLs must contain at "
            "least one value",
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(("fields", "expected"), BAD_RULES)
def test_rules(fields: Json, expected: list[str]) -> None:
    at = "spec.rules[0]"
    full = [f"{at}{'' if text.startswith(':') else '.'}{text}" for text in expected]
    assert complaints(ruled(**fields)) == full


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            schema(matchingPrecedence=1, priorityLevelConfiguration={}),
            [
                "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may "
                "have matchingPrecedence 1",
                "spec.priorityLevelConfiguration.name: Required value: must reference a priority "
                "level",
            ],
        ),
        (
            schema(matchingPrecedence=10001, distinguisherMethod={"type": "x"}),
            [
                "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000",
                'spec.distinguisherMethod.type: Unsupported value: {"Type":"x"}: supported values: '
                '"ByNamespace", "ByUser"',
            ],
        ),
        (
            schema("exempt"),
            [
                'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"p"},'
                '"MatchingPrecedence":5,"DistinguisherMethod":null,"Rules":null}: spec of '
                "'exempt' must equal the fixed value"
            ],
        ),
        (
            level("exempt", type="Limited"),
            [
                "spec.type: Invalid value: \"Limited\": must be 'Exempt' if and only if "
                "`name` is 'exempt'",
                "spec.limited: Required value: must not be empty when type is Limited",
                'spec: Invalid value: {"Type":"Limited","Limited":null,"Exempt":null}: spec of '
                "'exempt' except the 'spec.exempt' field must equal the fixed value",
            ],
        ),
        (
            level(type="x"),
            ['spec.type: Unsupported value: "x": supported values: "Exempt", "Limited"'],
        ),
        (
            limited(nominalConcurrencyShares=-1, lendablePercent=101, borrowingLimitPercent=-1),
            [
                "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative "
                "integer",
                "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, "
                "inclusive",
                "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a "
                "non-negative integer",
            ],
        ),
        (
            limited(limitResponse={"type": "Queue"}),
            [
                "spec.limited.limitResponse.queuing: Required value: must not be empty if "
                "limited.limitResponse.type is Limited"
            ],
        ),
        (
            limited(limitResponse={"type": "Reject", "queuing": QUEUES}),
            [
                "spec.limited.limitResponse.queuing: Forbidden: must be nil if "
                "limited.limitResponse.type is not Limited"
            ],
        ),
        (
            queued(queues=4, handSize=6, queueLengthLimit=-1),
            [
                "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be "
                "positive",
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 6: should not be "
                "greater than queues (4)",
            ],
        ),
        (
            queued(queues=10_000_001, handSize=3),
            [
                "spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be "
                "greater than 10000000",
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 3: required entropy "
                "bits of deckSize 10000001 and handSize 3 should not be greater than 60",
            ],
        ),
    ],
)
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_the_other_sort_of_level_is_forbidden() -> None:
    value = level(type="Limited", exempt={}, limited={"limitResponse": {"type": "Reject"}})
    assert complaints(value) == ["spec.exempt: Forbidden: must be nil if the type is Limited"]
    noted = {**value, "metadata": {"name": "a", "annotations": {PRESERVED: ""}}}
    assert complaints({**noted, "spec": {**value["spec"], "exempt": None}}) == [
        f"metadata.annotations: Forbidden: annotation '{PRESERVED}' is forbidden"
    ]


def test_zeros_are_defaulted() -> None:
    schema = obj(
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema",
        spec={"matchingPrecedence": 0, "priorityLevelConfiguration": {"name": "x"}},
    )
    assert admitted(schema)["spec"]["matchingPrecedence"] == 1000
    queued_for = {"type": "Queue", "queuing": {"queues": 0, "handSize": 0, "queueLengthLimit": 0}}
    found = admitted(level(type="Limited", limited={"limitResponse": queued_for}))
    assert found["spec"]["limited"]["limitResponse"]["queuing"] == {
        "queues": 64,
        "handSize": 8,
        "queueLengthLimit": 50,
    }


def test_conditions_are_of_different_types() -> None:
    value = {"status": {"conditions": [{"type": "a"}, {"type": "a"}, {"type": ""}]}}
    assert list(map(str, typed_conditions(value))) == [
        'status.conditions[1].type: Duplicate value: "a"',
        "status.conditions[2].type: Required value",
    ]
