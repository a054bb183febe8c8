"""The rules about mutating policies, beyond their own examples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.lint.linting import found

GROUP = "admissionregistration.k8s.io/v1"


GROUPS = {
    **dict.fromkeys(("daemonsets", "deployments", "replicasets", "statefulsets"), "apps"),
    "jobs": "batch",
    "storageclasses": "storage.k8s.io",
}


def mutating(name: str, *texts: str, operations: str = "CREATE", resource: str = "pods") -> Any:
    """Texts that begin with `[` are JSON patches."""
    group = GROUPS.get(resource, "")
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
    ("[JSONPatch{op: 'add', path: '/spec/nope', value: 1}]", "Pod has no field `spec.nope`"),
    ("[JSONPatch{op: 'add', path: '/spec/containers/0/env/-/nope', value: 1}]",
     "Pod has no field `spec.containers.0.env.-.nope`"),
    ("[JSONPatch{op: 'add', path: '/spec/containers/-', value: 1}]", None),
    ("[JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}]", None),
    ("[JSONPatch{op: 'remove', path: '/spec/nope'}]", None),
]  # fmt: skip
NOPE = "%s ? Object{spec: Object.spec{nope: 1}} : Object{}"
OF_OTHER_KINDS = [
    ("object.kind == 'Job'", False),
    ("'Job' == object.kind", False),
    ("object.kind != 'Pod'", False),
    ("object.kind in ['Job', 'CronJob']", False),
    ("has(object.spec.nope)", False),
    ("!has(object.spec.nope)", True),
    ("object.kind == 'Pod'", True),
    ("object.kind in ['Job', 'Pod']", True),
    ("has(object.spec.hostname)", True),
    ("object.kind == 'Job' || has(object.spec.hostname)", True),
    ("object.kind == 'Job' && has(object.spec.hostname)", False),
    ("!(object.kind == 'Pod' || has(object.spec.hostname))", False),
]


@pytest.mark.parametrize(("text", "message"), TYPES)
def test_configurations_have_to_fit(text: str, message: str | None) -> None:
    findings = found("CEL080", mutating("p", text))
    assert [one.message for one in findings] == ([] if message is None else [message])


@pytest.mark.parametrize(("condition", "is_made"), OF_OTHER_KINDS)
def test_what_is_made_for_other_kinds_need_not_fit(condition: str, is_made: bool) -> None:
    assert bool(found("CEL080", mutating("p", NOPE % condition))) is is_made


def test_what_is_made_for_other_kinds_is_not_refused() -> None:
    text = "object.kind == '%s' ? Object{spec: Object.spec{completionMode: 'Indexed'}} : Object{}"
    for kind, count in (("Job", 1), ("Pod", 0)):
        policy = mutating("p", text % kind, operations="UPDATE", resource="jobs")
        assert len(found("CEL083", policy)) == count


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


def adding(path: str, value: str) -> str:
    return f"[JSONPatch{{op: 'add', path: '{path}', value: {value}}}]"


def test_a_mutation_gets_what_those_before_it_have_made() -> None:
    selector = adding("/spec/nodeSelector", "{'a': 'b'}")
    parent = f"has(object.spec.nodeSelector) ? [] : {selector}"
    child = adding("/spec/nodeSelector/zone", "'a'")
    assert not found("CEL086", mutating("p", parent, child))
    (one,) = found("CEL086", mutating("p", child, parent))
    assert str(one.spot.path).startswith("spec.mutations[0]")
    again = adding("/spec/tolerations/-", "Object.spec.tolerations{key: 'a'}")
    first = adding("/spec/tolerations", "[Object.spec.tolerations{key: 'b'}]")
    (one,) = found("CEL081", mutating("p", first, again))
    assert str(one.spot.path).startswith("spec.mutations[1]")


LABELS = adding("/metadata/labels", "{'a': 'b'}")
ENVIRONMENT = adding("/spec/containers/0/env", "[Object.spec.containers.env{name: 'a'}]")
ABSENT = [
    (LABELS, False),
    (f"has(object.metadata.labels) ? [] : {LABELS}", True),
    (f"has(object.metadata.labels) ? {LABELS} : []", False),
    (f"!has(object.metadata.labels) ? {LABELS} : []", True),
    (f"!has(object.metadata.annotations) ? {LABELS} : []", False),
    (f"object.?metadata.?labels.hasValue() ? [] : {LABELS}", True),
    (f"'labels' in object.metadata ? [] : {LABELS}", True),
    (f"has(object.spec) && !has(object.metadata.labels) ? {LABELS} : []", True),
    (f"has(object.spec) || !has(object.metadata.labels) ? {LABELS} : []", False),
    (f"has(object.metadata.name) || has(object.metadata.labels) ? [] : {LABELS}", True),
    (f"has(object.metadata.name) && has(object.metadata.labels) ? [] : {LABELS}", False),
    (ENVIRONMENT, False),
    (f"has(object.spec.containers[0].env) ? [] : {ENVIRONMENT}", True),
    (f"has(object.spec.containers[1].env) ? [] : {ENVIRONMENT}", False),
]


@pytest.mark.parametrize(("text", "is_absent"), ABSENT)
def test_nothing_is_replaced_where_nothing_is(text: str, is_absent: bool) -> None:
    assert (not found("CEL085", mutating("p", text))) == is_absent


def test_what_cannot_change_may_be_set_of_kinds_that_are_only_created() -> None:
    template = (
        "Object{spec: Object.spec{template: Object.spec.template{"
        "metadata: Object.spec.template.metadata{labels: {'a': 'b'}}}}}"
    )
    given = mutating("p", template, operations="CREATE UPDATE", resource="deployments")
    rules = given["spec"]["matchConstraints"]["resourceRules"]
    jobs = {**rules[0], "apiGroups": ["batch"], "resources": ["jobs"]}
    rules.append({**jobs, "operations": ["CREATE"]})
    assert not found("CEL083", given)
    rules.append(jobs)
    assert "in a Job it cannot change" in found("CEL083", given)[0].message


def test_policies_about_other_kinds_do_not_meet() -> None:
    label = "Object{metadata: Object.metadata{labels: {'a': '%s'}}}"
    first = mutating("p", label % 1)
    assert not found("CEL082", first, mutating("q", label % 2, resource="configmaps"))
    (one,) = found("CEL082", first, mutating("q", label % 2))
    assert one.spot.document == 1
    assert "policy `p` sets `metadata.labels.a` to another value" in one.message


@pytest.mark.parametrize("selector", ["namespaceSelector", "objectSelector"])
def test_policies_for_other_labels_do_not_meet(selector: str) -> None:
    label = "Object{metadata: Object.metadata{labels: {'a': '%s'}}}"
    first, second = mutating("p", label % 1), mutating("q", label % 2)
    for one, labels in ((first, {"size": "s", "b": "c"}), (second, {"size": "m"})):
        one["spec"]["matchConstraints"][selector] = {"matchLabels": labels}
    assert not found("CEL082", first, second)
    second["spec"]["matchConstraints"][selector] = {"matchLabels": {"size": "s"}}
    assert found("CEL082", first, second)


def test_what_validation_will_refuse() -> None:
    selector = "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}"
    given = mutating("p", selector, operations="CREATE UPDATE", resource="deployments")
    assert "in a Deployment it cannot change" in found("CEL083", given)[0].message
    assert not found("CEL083", mutating("p", selector, resource="deployments"))


def replacing(path: str) -> str:
    return f"[JSONPatch{{op: 'replace', path: '{path}', value: 'x'}}]"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("metadata/uid", "the server gives it; on update the request is refused"),
        ("metadata/resourceVersion", "a request with another one is refused"),
        ("metadata/namespace", "a request in another namespace is refused"),
        ("metadata/managedFields", "it is atomic, and the server's own"),
        ("metadata/creationTimestamp", "the server gives it"),
        ("metadata/deletionTimestamp", "on update the request is refused"),
        ("metadata/generation", "the server counts it"),
        ("apiVersion", "it is overwritten, or the object becomes another one"),
        ("kind", "it is overwritten, or the object becomes another one"),
    ],
)
def test_what_the_server_owns(path: str, why: str) -> None:
    (one,) = found("CEL083", mutating("p", replacing(f"/{path}")))
    assert one.message == f"`{path.replace('/', '.')}` is not for policies: {why}"


def test_names_may_be_given_once() -> None:
    rename = replacing("/metadata/name")
    (one,) = found("CEL083", mutating("p", rename, operations="CREATE UPDATE"))
    assert one.message.endswith(": names do not change: an update is refused")
    assert not found("CEL083", mutating("p", rename))
    assert not found("CEL083", mutating("p", replacing("/metadata/labels"), operations="UPDATE"))


@pytest.mark.parametrize(
    ("resource", "kind", "path"),
    [
        ("daemonsets", "DaemonSet", "spec/selector"),
        ("deployments", "Deployment", "spec/selector"),
        ("deployments", "Deployment", "spec/selector/matchLabels"),
        ("jobs", "Job", "spec/selector"),
        ("jobs", "Job", "spec/template"),
        ("jobs", "Job", "spec/completionMode"),
        ("persistentvolumeclaims", "PersistentVolumeClaim", "spec/accessModes"),
        ("persistentvolumeclaims", "PersistentVolumeClaim", "spec/storageClassName"),
        ("replicasets", "ReplicaSet", "spec/selector"),
        ("secrets", "Secret", "type"),
        ("services", "Service", "spec/clusterIP"),
        ("statefulsets", "StatefulSet", "spec/selector"),
        ("statefulsets", "StatefulSet", "spec/serviceName"),
        ("storageclasses", "StorageClass", "provisioner"),
        ("storageclasses", "StorageClass", "parameters"),
    ],
)
def test_what_does_not_change(resource: str, kind: str, path: str) -> None:
    given = mutating("p", replacing(f"/{path}"), operations="UPDATE", resource=resource)
    (one,) = found("CEL083", given)
    assert one.message == (
        f"`{path.replace('/', '.')}` is not for policies: "
        f"in a {kind} it cannot change, so an update is refused"
    )
    assert not found("CEL083", mutating("p", replacing(f"/{path}"), resource=resource))


def test_what_helps_against_misfits() -> None:
    (one,) = found("CEL080", mutating("p", "Object{metadata: Object.metadata{labels: null}}"))
    assert one.help == "leave it out: a configuration cannot remove a field"
    (one,) = found("CEL080", mutating("p", C % "args: ['a']"))
    assert one.help == "use a JSON patch"
    (one,) = found("CEL080", mutating("p", "Object{metadata: Object.spec{}}"))
    assert one.help == "name it so"


LABEL = "Object{metadata: Object.metadata{labels: {'a': '%s'}}}"
REMOVE = "[JSONPatch{op: 'remove', path: '/metadata/labels%s'}]"


@pytest.mark.parametrize(
    ("first", "second", "speaks"),
    [
        (LABEL % 1, REMOVE % "/a", True),
        (LABEL % 1, REMOVE % "", True),
        (LABEL % 1, REMOVE % "/b", False),
        (REMOVE % "/a", REMOVE % "/a", False),
        (REMOVE % "/a", replacing("/metadata/labels/a"), True),
        (LABEL % 1, replacing("/metadata/labels/a"), False),
    ],
)
def test_what_another_policy_removes(first: str, second: str, speaks: bool) -> None:
    findings = found("CEL084", mutating("p", first), mutating("q", second))
    assert bool(findings) is speaks
    assert not found("CEL084", mutating("p", first), mutating("q", second, resource="configmaps"))


def test_all_that_two_policies_set_is_compared() -> None:
    """One that sets the same value, one that is no literal, and one that differs."""
    text = "Object{metadata: Object.metadata{labels: {%s}}}"
    first = text % "'a': '1', 'b': '2', 'c': '3'"
    second = text % "'a': '1', 'b': string(object.metadata.name), 'c': '4'"
    (one,) = found("CEL082", mutating("p", first), mutating("q", second))
    assert "sets `metadata.labels.c` to another value" in one.message


@pytest.mark.parametrize(
    ("patches", "whats"),
    [
        ("JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}", ["map"]),
        ("JSONPatch{op: 'replace', path: '/spec/containers', value: [{'name': 'x'}]}", ["list"]),
        ("JSONPatch{op: 'add', path: '/spec/containers/-', value: {'name': 'x'}}", []),
        ("JSONPatch{op: 'test', path: '/metadata/labels', value: {'a': 'b'}}", []),
        (
            "JSONPatch{op: 'remove', path: '/metadata/labels'}, "
            "JSONPatch{op: 'add', path: '/spec/hostname', value: 'x'}, "
            "JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}",
            ["map"],
        ),
    ],
)
def test_lists_that_are_replaced(patches: str, whats: list[str]) -> None:
    findings = found("CEL085", mutating("p", f"[{patches}]"))
    assert [what for one in findings for what in ("list", "map") if f" {what}" in one.message] == (
        whats
    )


ADD = "[JSONPatch{op: 'add', path: '%s', value: 'a'}]"
TEMPLATED = ("daemonsets", "deployments", "jobs", "replicasets", "statefulsets")


@pytest.mark.parametrize(
    ("resource", "path", "parent"),
    [
        ("pods", "/metadata/labels/zone", "/metadata/labels"),
        ("pods", "/metadata/annotations/zone", "/metadata/annotations"),
        ("pods", "/metadata/finalizers", ""),
        ("pods", "/spec/hostname", ""),
        ("pods", "/spec/containers/0/imagePullPolicy", ""),
        ("pods", "/spec/containers/0/env/-", "/spec/containers/0/env"),
        ("storageclasses", "/metadata/labels/zone", "/metadata/labels"),
        ("storageclasses", "/provisioner", ""),
        *((one, "/spec/template/metadata/labels/zone", "") for one in TEMPLATED),
        *((one, "/spec/selector/matchLabels/zone", "") for one in TEMPLATED),
        *((one, "/spec/template/spec/containers/0/workingDir", "") for one in TEMPLATED),
        (
            "deployments",
            "/spec/template/metadata/annotations/zone",
            "/spec/template/metadata/annotations",
        ),
    ],
)
def test_what_is_there_to_patch(resource: str, path: str, parent: str) -> None:
    told = [one.message for one in found("CEL086", mutating("p", ADD % path, resource=resource))]
    assert [one.partition(" without ")[2] for one in told] == ([f"`{parent}`"] if parent else [])


@pytest.mark.parametrize(
    ("field", "key"), [("labels", "app"), ("annotations", "note"), ("labels", "other")]
)
def test_objects_with_more_are_tried_too(field: str, key: str) -> None:
    at = f"object.metadata.{field}"
    grows = f"Object{{metadata: Object.metadata{{{field}: {{'{key}': {at}.{key} + '1'}}}}}}"
    given = mutating("p", f"has({at}) && '{key}' in {at} ? {grows} : Object{{}}")
    told = [one.message for one in found("CEL081", given)]
    path = f"/metadata/{field}/{key}"
    assert told == ([] if key == "other" else [f"a second run changes the Pod again: at `{path}`"])
