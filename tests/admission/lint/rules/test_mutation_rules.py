"""The rules about mutating policies, beyond their own examples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.lint.linting import found

GROUP = "admissionregistration.k8s.io/v1"


def mutating(name: str, *texts: str, operations: str = "CREATE", resource: str = "pods") -> Any:
    """Texts that begin with `[` are JSON patches."""
    group = "apps" if resource == "deployments" else ""
    rule = {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": operations.split(),
        "resources": [resource],
    }
    mutations = [
        {"patchType": "JSONPatch", "jsonPatch": {"expression": text}}
        if "JSONPatch" in text
        else {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}
        for text in texts
    ]
    return {
        "apiVersion": GROUP,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [rule]},
            "mutations": mutations,
        },
    }


C = "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'x', %s}]}}"
TYPES = [
    ("Object{spec: Object.spec{nope: 1}}", "Pod has no field `spec.nope`"),
    (C % "imge: 'x:1'", "Pod has no field `spec.containers.imge`"),
    (C % "args: ['a']",
     "`spec.containers.args` of Pod is atomic, which a configuration may not set"),
    ("Object{spec: Object.spec{containers: Object.spec.containers{name: 'x'}}}",
     "`spec.containers` of Pod is no object"),
    ("Object{metadata: Object.spec{}}",
     "the type `Object.spec` stands where `Object.metadata` has to"),
    ("Object{metadata: Object.metadata{labels: null}}",
     "`metadata.labels` of Pod may not be null"),
    ("Object{metadata: Object.metadata{labels: 'a'}}", "`metadata.labels` of Pod is no scalar"),
    ("Object{metadata: Object.metadata{name: ['a']}}", "`metadata.name` of Pod is no list"),
    (C % "image: object.spec.hostname", None),
    ("has(object.spec) ? Object{spec: Object.spec{hostname: 'a'}} : Object{}", None),
    ("Object{spec: Object.spec{containers: object.spec.containers.map(c, "
     "Object.spec.containers{name: c.name, nope: 1})}}", "Pod has no field `spec.containers.nope`"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), TYPES)
def test_configurations_have_to_fit(text: str, message: str | None) -> None:
    findings = found("CEL080", mutating("p", text))
    assert [one.message for one in findings] == ([] if message is None else [message])


def test_a_counter_is_not_idempotent_and_a_label_is() -> None:
    value = "object.?metadata.labels.n.orValue('') + '1'"
    count = f"Object{{metadata: Object.metadata{{labels: {{'n': {value}}}}}}}"
    (one,) = found("CEL081", mutating("p", count))
    assert one.message == "a second run changes the Pod again: at `/metadata/labels/n`"
    assert not found(
        "CEL081", mutating("p", "Object{metadata: Object.metadata{labels: {'n': '1'}}}")
    )


def test_a_sidecar_by_configuration_is_idempotent() -> None:
    assert not found("CEL081", mutating("p", C % "image: 'x:1'"))


def test_the_missing_parent_is_named() -> None:
    text = "[JSONPatch{op: 'add', path: '/spec/nodeSelector/zone', value: 'a'}]"
    (one,) = found("CEL086", mutating("p", text))
    assert one.message == "fails for a Pod without `/spec/nodeSelector`"


def test_policies_about_other_kinds_do_not_meet() -> None:
    label = "Object{metadata: Object.metadata{labels: {'a': '%s'}}}"
    first = mutating("p", label % 1)
    assert not found("CEL082", first, mutating("q", label % 2, resource="configmaps"))
    (one,) = found("CEL082", first, mutating("q", label % 2))
    assert one.spot.document == 1
    assert "policy `p` sets `metadata.labels.a` to another value" in one.message


def test_what_validation_will_refuse() -> None:
    selector = "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}"
    given = mutating("p", selector, operations="CREATE UPDATE", resource="deployments")
    assert "in a Deployment it cannot change" in found("CEL083", given)[0].message
    assert not found("CEL083", mutating("p", selector, resource="deployments"))
