"""What the write path does to registration objects, and what their strategies say about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.admission import ObjectWorld
from celadon.admission.registration import registration_strategies
from celadon.admission.registration.decoding import decode_object
from celadon.kube import GroupVersionKind, Ruling
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Surroundings, Target, create, drafted, update, write_warnings
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION

CONTEXT = DefaultingContext()
NOTHING = Surroundings()
HOOK = {
    "name": "a.b.c",
    "clientConfig": {"url": "https://h/"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
VWC = "ValidatingWebhookConfiguration"
VAP = "ValidatingAdmissionPolicy"
VAPB = "ValidatingAdmissionPolicyBinding"


def document(kind: str, meta: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    sent = {"metadata": {"name": "n", **(meta or {})}, **members}
    return decode_object(sent, kind).document


def target_of(kind: str, **more: Any) -> Target:
    resource = known_resources().by_gvk(GroupVersionKind(ADMISSION_REGISTRATION, "v1", kind))
    assert resource is not None
    return Target(resource, **more)


def changed(kind: str, sent: dict[str, Any], old: dict[str, Any], **more: Any) -> dict[str, Any]:
    target = target_of(kind, name="n", **more)
    draft = drafted(sent, target.kind, CONTEXT)
    update.begin_update(draft, target)
    return update.finish_update(draft, old, target, registration_strategies.STRATEGIES)


def stored(kind: str, meta: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    sent = {"metadata": {"name": "n", **(meta or {})}, **members}
    made = create.created(sent, target_of(kind), CONTEXT)
    made["metadata"]["resourceVersion"] = "1"
    return made


def generation_after(kind: str, old: dict[str, Any], **members: Any) -> int:
    made = changed(kind, {"metadata": {"name": "n"}, **members}, old)
    return int(made["metadata"]["generation"])


def test_create_resets_what_a_client_cannot_write() -> None:
    meta = {"generation": 42, "namespace": "default", "deletionTimestamp": "2001-01-01T00:00:00Z"}
    made = stored(VAP, meta, status={"observedGeneration": 5})
    assert made["metadata"]["generation"] == 1
    assert "namespace" not in made["metadata"]
    assert "deletionTimestamp" not in made["metadata"]
    assert made["status"] == {}


def test_generation_of_webhooks_counts_empty_lists() -> None:
    old = stored(VWC, webhooks=[HOOK])
    assert generation_after(VWC, old, webhooks=[HOOK]) == 1
    assert generation_after(VWC, old, webhooks=[{**HOOK, "rules": []}]) == 2
    assert generation_after(VWC, old, webhooks=[{**HOOK, "timeoutSeconds": 1}]) == 2
    assert generation_after(VWC, old, metadata={"name": "n", "labels": {"a": "b"}}) == 2
    assert generation_after(VWC, stored(VWC), webhooks=[]) == 2


def test_generation_of_policies_does_not() -> None:
    old = stored(VAP, spec={"validations": [{"expression": "true"}]})
    spec = {"validations": [{"expression": "true"}], "matchConditions": []}
    assert generation_after(VAP, old, spec=spec) == 1
    assert generation_after(VAP, old, spec={}) == 2


def test_a_bad_label_is_found_three_times_on_update() -> None:
    old = stored(VWC)
    sent = {"metadata": {"name": "n", "resourceVersion": "1", "labels": {"a b": "c"}}}
    errors = registration_strategies.update_errors(changed(VWC, sent, old), old, NOTHING)
    assert [error.field for error in errors] == ["metadata.labels"] * 3


IMMUTABLE: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    (
        {"deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3},
        {},
        [
            'metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
            "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable",
        ],
    ),
    ({"uid": "x<"}, {}, ['metadata.uid: Invalid value: "x\\u003c": field is immutable']),
    (
        {"finalizers": ["z.b/c", "b.b/c"]},
        {"deletionTimestamp": "2001-01-01T00:00:00Z"},
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
            'deleted, found new finalizers []string{"b.b/c", "z.b/c"}'
        ],
    ),
    (
        {"resourceVersion": ""},
        {},
        ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    ),
]


@pytest.mark.parametrize(("changes", "before", "messages"), IMMUTABLE)
def test_what_cannot_change(
    changes: dict[str, Any], before: dict[str, Any], messages: list[str]
) -> None:
    old = stored(VWC)
    old["metadata"].update(before)
    sent = {"metadata": {"name": "n", "resourceVersion": "1", **changes}}
    errors = registration_strategies.update_errors(changed(VWC, sent, old), old, NOTHING)
    assert [str(error) for error in errors] == messages


def warnings(decoded: dict[str, Any]) -> list[str]:
    return write_warnings(decoded, target_of(VWC), registration_strategies.STRATEGIES)


def test_warnings() -> None:
    assert warnings(document(VWC)) == []
    assert warnings(document(VWC, {"name": "a.static.k8s.io"})) == [
        'metadata.name: names ending with ".static.k8s.io" are reserved for static '
        "manifest-based configurations and cannot be managed via the API",
    ]


STATUS: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"typeChecking": {"expressionWarnings": [{"fieldRef": " ", "warning": ""}]}},
        [
            "status.typeChecking.expressionWarnings[0].warning: Required value",
            "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
        ],
    ),
    (
        {"typeChecking": {"expressionWarnings": [{"fieldRef": "spec[foo]", "warning": "w"}]}},
        [
            'status.typeChecking.expressionWarnings[0].fieldRef: Invalid value: "spec[foo]": '
            "invalid JSONPath: invalid array index foo"
        ],
    ),
    (
        {"conditions": [{"type": "T", "status": "Maybe", "observedGeneration": -1}]},
        [
            'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", '
            '"True", "Unknown"',
            "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or "
            "equal to zero",
            "status.conditions[0].lastTransitionTime: Required value",
            "status.conditions[0].reason: Required value",
        ],
    ),
]


@pytest.mark.parametrize(("status", "messages"), STATUS)
def test_status(status: dict[str, Any], messages: list[str]) -> None:
    old = stored(VAP)
    sent = {"metadata": {"name": "n", "resourceVersion": "1"}, "status": status}
    made = changed(VAP, sent, old, subresource="status")
    assert made["spec"] == old["spec"]
    assert [
        str(error) for error in registration_strategies.status_errors(made, old, NOTHING)
    ] == messages


def test_names_for_files_are_reserved_where_there_can_be_files() -> None:
    given = document(VWC, {"name": "a.static.k8s.io"})
    assert registration_strategies.create_errors(given, NOTHING) == []
    gated = replace(NOTHING, gates={"ManifestBasedAdmissionControlConfig": True})
    assert [str(error) for error in registration_strategies.create_errors(given, gated)] == [
        'metadata.name: Invalid value: "a.static.k8s.io": names ending with ".static.k8s.io" are '
        "reserved for static manifest-based configurations and cannot be managed via the API"
    ]
    assert registration_strategies.update_errors(given, given, gated) == []
    assert registration_strategies.create_errors(document(VWC), gated) == []


@pytest.mark.parametrize("kind", [VWC, "MutatingWebhookConfiguration"])
@pytest.mark.parametrize(
    ("changes", "generation"),
    [
        ({"namespaceSelector": {}}, 1),
        ({"namespaceSelector": {"matchLabels": {}}}, 2),
        ({"objectSelector": {"matchExpressions": []}}, 2),
        ({"matchConditions": []}, 2),
    ],
)
def test_what_is_empty_and_sent_is_a_change(
    kind: str, changes: dict[str, Any], generation: int
) -> None:
    assert generation_after(
        kind, stored(kind, webhooks=[HOOK]), webhooks=[{**HOOK, **changes}]
    ) == (generation)


SPEC: dict[str, Any] = {
    "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    "matchConstraints": {
        "resourceRules": [
            {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
        ]
    },
}
WRITERS: dict[str, dict[str, Any]] = {
    VAP: {"validations": [{"expression": "true"}]},
    "MutatingAdmissionPolicy": {
        "reinvocationPolicy": "Never",
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
        ],
    },
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(
    ("ruling", "fields"),
    [(None, []), (Ruling.ALLOW, []), (Ruling.NO_OPINION, ["spec.paramKind", "spec.paramRef"])],
)
def test_who_refers_to_params_may_read_them(
    kind: str, ruling: Ruling | None, fields: list[str]
) -> None:
    """Of a policy all objects of the kind; of a binding the named one, of the kind that its stored
    policy says."""
    policy = stored(kind, {"name": "p"}, spec={**SPEC, **WRITERS[kind]})
    ref = {"name": "c", "namespace": "ns", "parameterNotFoundAction": "Deny"}
    spec: dict[str, Any] = {"policyName": "p", "paramRef": ref}
    if kind == VAP:
        spec["validationActions"] = ["Deny"]
    binding = stored(f"{kind}Binding", spec=spec)
    surroundings = Surroundings(
        lookups=ObjectWorld([policy]),
        authorize=None if ruling is None else lambda _: (ruling, "", None),
    )
    found = [
        error.field
        for made in (policy, binding)
        for error in registration_strategies.create_errors(made, surroundings)
    ]
    assert found == fields
    assert registration_strategies.update_errors(policy, policy, surroundings) == []
