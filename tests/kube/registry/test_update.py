"""Updates: which state of an object they are about, and what they keep."""

from __future__ import annotations

from typing import Any, Final

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.create import admit_form, stored_new
from celadon.kube.registry.decoded_object import drafted, stored_form
from celadon.kube.registry.strategy import strategy_of
from celadon.kube.registry.update import (
    finish_update,
    prepare_for_update,
    require_state,
    require_state_of_scale,
    require_uid,
    storage_key,
    stored_update,
)
from celadon.kube.releases import answering_as
from celadon.kube.status import StatusError
from tests.kube.registry.targets import target

DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
CONTEXT = DefaultingContext(now="2026-01-01T00:00:00Z", uid="U", suffix="abcde")
MAPS = target("v1/configmaps", "a")
POD_STATUS = target("v1/pods", "a", "status")
LEASES = target("coordination.k8s.io/v1/leases", "a")
OLD = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}
REFUSED: list[tuple[dict[str, Any], bool, int, str]] = [
    ({"resourceVersion": "8"}, False, 409, "the object has been modified; please apply"),
    ({}, True, 422, 'leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid '
     "value: 0: must be specified for an update"),
]  # fmt: skip


@pytest.mark.parametrize(("meta", "needs_version", "code", "text"), REFUSED)
def test_refused_updates(meta: dict[str, Any], needs_version: bool, code: int, text: str) -> None:
    with pytest.raises(StatusError) as caught:
        require_state({"metadata": meta}, OLD, LEASES, needs_version=needs_version)
    assert caught.value.code == code
    assert text in str(caught.value)


@pytest.mark.parametrize("meta", [{}, {"resourceVersion": "7", "uid": "u"}])
def test_accepted_updates(meta: dict[str, Any]) -> None:
    require_state({"metadata": meta}, OLD, MAPS, needs_version=False)


def test_a_uid_that_the_client_did_not_say_is_for_validation() -> None:
    made = {"metadata": {"uid": "x", "resourceVersion": "7"}}
    require_state(made, OLD, MAPS, needs_version=True)


@pytest.mark.parametrize(
    ("old", "dry_run", "key", "found"),
    [
        (OLD, False, "/registry/configmaps/ns/a", "u"),
        (None, False, "/registry/configmaps/ns/a", ""),
        (None, True, "/configmaps/ns/a", ""),
    ],
)
def test_an_object_that_the_client_takes_for_another(
    old: Any, dry_run: bool, key: str, found: str
) -> None:
    require_uid("", old, MAPS)
    require_uid(found, old, MAPS)
    with pytest.raises(StatusError) as caught:
        require_uid("x", old, MAPS, dry_run=dry_run)
    assert caught.value.code == 409
    assert str(caught.value) == (
        'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, '
        f"Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
        f"precondition: x, UID in object meta: {found}"
    )


@pytest.mark.parametrize(
    ("resource", "key"),
    [
        ("v1/configmaps", "configmaps/ns/a"),
        ("v1/nodes", "minions/a"),
        ("v1/services", "services/specs/ns/a"),
        ("v1/endpoints", "services/endpoints/ns/a"),
        ("v1/replicationcontrollers", "controllers/ns/a"),
        ("networking.k8s.io/v1/ingresses", "ingress/ns/a"),
        ("networking.k8s.io/v1/networkpolicies", "networkpolicies/ns/a"),
        (
            "apiextensions.k8s.io/v1/customresourcedefinitions",
            "apiextensions.k8s.io/customresourcedefinitions/a",
        ),
        ("apiregistration.k8s.io/v1/apiservices", "apiregistration.k8s.io/apiservices/a"),
    ],
)
def test_keys(resource: str, key: str) -> None:
    assert storage_key(target(resource, "a")) == f"/registry/{key}"
    assert storage_key(target(resource, "a"), dry_run=True) == f"/{key}"


def test_a_version_has_to_be_a_number() -> None:
    made = {"metadata": {"name": "a", "resourceVersion": "abc"}}
    old = {"metadata": {"name": "a", "resourceVersion": "7"}}
    with pytest.raises(StatusError) as refused:
        require_state(made, old, target("v1/configmaps", "a"), needs_version=False)
    assert refused.value.code == 500
    assert str(refused.value) == 'strconv.ParseUint: parsing "abc": invalid syntax'


def stored_deployment(**meta: Any) -> dict[str, Any]:
    sent = {"metadata": {"name": "d", **meta}, "spec": {"template": {"spec": {}}}}
    made = stored_form(admit_form(sent, DEPLOYMENT, CONTEXT), DEPLOYMENT)
    made["metadata"]["generation"] = 4
    made["status"] = {"replicas": 1}
    return made


def test_update_of_the_spec() -> None:
    old = stored_deployment()
    new = {
        **old,
        "metadata": {"name": "d", "generation": 99, "uid": ""},
        "spec": {**old["spec"], "replicas": 5},
        "status": {"replicas": 9},
    }
    made = prepare_for_update(drafted(new, DEPLOYMENT), old)
    assert made["status"] == {"replicas": 1}
    assert made["metadata"]["generation"] == 5
    assert made["metadata"]["uid"] == "U"
    assert made["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("spec", "generation"),
    [
        ({"podSelector": {}, "policyTypes": ["Ingress"]}, 1),
        ({"podSelector": {}, "policyTypes": []}, 1),  # filled by a default
        ({"podSelector": {}, "policyTypes": ["Ingress"], "egress": []}, 2),
        ({"podSelector": {"matchLabels": {}}, "policyTypes": ["Ingress"]}, 2),
    ],
)
def test_an_empty_list_changes_a_network_policy(spec: dict[str, Any], generation: int) -> None:
    kind = GroupVersionKind("networking.k8s.io", "v1", "NetworkPolicy")
    old = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "n", "generation": 1},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    made = prepare_for_update(drafted({**old, "spec": spec}, kind), old)
    assert made["metadata"]["generation"] == generation


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
@pytest.mark.parametrize(
    ("stored", "sent", "generation"),
    [
        ({}, {}, 1),
        ({}, {"webhooks": []}, 2),
        ({"webhooks": [{"name": "a"}]}, {"webhooks": [{"name": "a"}]}, 1),
        ({"webhooks": [{"name": "a"}]}, {"webhooks": [{"name": "a", "rules": []}]}, 2),
        ({"webhooks": [{"name": "a"}]}, {"webhooks": [{"name": "b"}]}, 2),
    ],
)
def test_an_empty_list_changes_webhooks(
    kind: str, stored: dict[str, Any], sent: dict[str, Any], generation: int
) -> None:
    gvk, meta = GroupVersionKind("admissionregistration.k8s.io", "v1", kind), {"name": "n"}
    old = stored_form(admit_form({"metadata": meta, **stored}, gvk, CONTEXT), gvk)
    old["metadata"]["generation"] = 1
    made = prepare_for_update(drafted({"metadata": meta, **sent}, gvk), old)
    assert made["metadata"]["generation"] == generation


@pytest.mark.parametrize(
    ("change", "generation"),
    [({"labels": {"a": "b"}}, 4), ({"annotations": {"a": "b"}}, 5), ({"annotations": {}}, 4)],
)
def test_update_of_metadata(change: dict[str, Any], generation: int) -> None:
    old = stored_deployment()
    new = {**old, "metadata": {**old["metadata"], **change}}
    assert prepare_for_update(drafted(new, DEPLOYMENT), old)["metadata"]["generation"] == generation


@pytest.mark.parametrize(
    ("kind", "content", "change"),
    [
        (
            GroupVersionKind("resource.k8s.io", "v1", "ResourceSlice"),
            {"spec": {"driver": "d", "pool": {"name": "p"}, "devices": [{"name": "a"}]}},
            {"spec": {"driver": "d", "pool": {"name": "p"}, "devices": [
                {"name": "a", "nodeAllocatableResourceMappings": {"cpu": {"capacityKey": "c"}}},
            ]}},
        ),
        (
            GroupVersionKind("discovery.k8s.io", "v1", "EndpointSlice"),
            {"addressType": "IPv4", "endpoints": [{"addresses": ["1.1.1.1"]}]},
            {"endpoints": [{"addresses": ["1.1.1.1"], "deprecatedTopology": {"a": "b"}}]},
        ),
    ],
)  # fmt: skip
def test_what_is_lost_counts_where_it_is_counted_before(
    kind: GroupVersionKind, content: dict[str, Any], change: dict[str, Any]
) -> None:
    sent = {"metadata": {"name": "a", "generation": 1}, **content}
    old = stored_form(admit_form(sent, kind, CONTEXT), kind)
    made = prepare_for_update(drafted({**old, **change}, kind), old)
    assert made["metadata"]["generation"] == 2
    without = {key: value for key, value in made.items() if key != "metadata"}
    assert without == {key: value for key, value in old.items() if key != "metadata"}
    assert prepare_for_update(drafted(old, kind), old)["metadata"]["generation"] == 1


def test_update_of_the_status() -> None:
    old = stored_deployment(labels={"a": "b"})
    new = {
        **old,
        "metadata": {**old["metadata"], "labels": {"c": "d"}, "annotations": {"e": "f"}},
        "spec": {**old["spec"], "replicas": 5},
        "status": {"replicas": 9},
    }
    made = prepare_for_update(drafted(new, DEPLOYMENT), old, subresource="status")
    assert made["spec"] == old["spec"]
    assert made["metadata"]["labels"] == {"a": "b"}
    assert made["metadata"]["annotations"] == {"e": "f"}
    assert made["metadata"]["generation"] == 4  # though annotations count elsewhere
    assert made["status"] == {"replicas": 9}


def test_status_that_keeps_all_metadata() -> None:
    gvk = GroupVersionKind("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema")
    old = stored_form(admit_form({"metadata": {"name": "f"}, "spec": {}}, gvk, CONTEXT), gvk)
    managed = [{"manager": "m"}]
    new = {**old, "metadata": {"name": "f", "labels": {"x": "y"}, "managedFields": managed}}
    made = prepare_for_update(drafted(new, gvk), old, subresource="status")
    assert made["metadata"] == {**old["metadata"], "managedFields": managed}


def test_candidates_for_leases_are_changed_in_a_named_version() -> None:
    candidates = target("coordination.k8s.io/v1beta1/leasecandidates", "a")
    assert strategy_of(candidates).needs_version


POD = GroupVersionKind("", "v1", "Pod")
CPU = {"requests": {"cpu": "1"}}
CONTAINER = {"name": "c", "image": "i"}
STORED_POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": {"a": "b"}},
    "spec": {"nodeName": "n", "initContainers": [CONTAINER], "containers": [CONTAINER]},
}
SENT_POD: dict[str, Any] = {
    "metadata": {
        "name": "q",
        "namespace": "other",
        "uid": "v",
        "resourceVersion": "9",
        "managedFields": [{"manager": "m"}],
        "labels": {"c": "d"},
    },
    "spec": {
        "nodeName": "m",
        "resources": CPU,
        "initContainers": [{"name": "x", "image": "j", "resources": CPU}],
        "containers": [
            {
                "name": "x",
                "resources": CPU,
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            },
            {"name": "more"},
        ],
        "ephemeralContainers": [{"name": "e"}],
    },
}


def without_empty(value: Any) -> Any:
    """The object without its empty members, which say nothing."""
    if isinstance(value, list):
        return [without_empty(item) for item in value]
    if isinstance(value, dict):
        return {key: without_empty(item) for key, item in value.items() if item != {}}
    return value


@pytest.mark.parametrize("subresource", ["resize", "ephemeralcontainers"])
def test_the_identity_counts_as_sent_where_little_else_does(subresource: str) -> None:
    made = prepare_for_update(drafted(SENT_POD, POD), STORED_POD, subresource=subresource)
    identity = ("name", "namespace", "uid", "resourceVersion", "managedFields")
    sent = {key: SENT_POD["metadata"][key] for key in identity}
    assert made["metadata"].items() >= {**sent, "labels": {"a": "b"}}.items()


def test_nobody_came_to_own_containers_that_were_added() -> None:
    with answering_as("1.32"):
        made = prepare_for_update(
            drafted(SENT_POD, POD), STORED_POD, subresource="ephemeralcontainers"
        )
    assert made["metadata"].get("managedFields") is None


SIZED = {
    "resources": CPU,
    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
}


def resized(sent_spec: Any, stored: Any = STORED_POD) -> Any:
    """The spec that comes of what was sent."""
    sent = {"metadata": {"name": "p"}, "spec": sent_spec}
    made = prepare_for_update(drafted(sent, POD), stored, subresource="resize")
    return without_empty(made["spec"])


def test_the_resources_of_a_pod_are_resized() -> None:
    spec = {
        "nodeName": "m",
        "resources": CPU,
        "initContainers": [{"name": "c", "image": "j", "resources": CPU}],
        "containers": [{"name": "c", **SIZED}],
    }
    made = resized(spec)
    assert made == {
        "nodeName": "n",
        "resources": CPU,
        "initContainers": [{**CONTAINER, "resources": CPU}],
        "containers": [{**CONTAINER, **SIZED}],
    }
    without = {"initContainers": [{"name": "c"}], "containers": [{"name": "c"}]}
    assert resized(without, {**STORED_POD, "spec": made}) == STORED_POD["spec"]


@pytest.mark.parametrize(
    ("release", "is_taken"), [("1.34", False), ("1.35", False), ("1.36", True)]
)
def test_the_resources_of_the_whole_pod_have_a_gate(release: str, is_taken: bool) -> None:
    spec = {"resources": CPU, "initContainers": [CONTAINER], "containers": [CONTAINER]}
    with answering_as(release):
        made = resized(spec)
    assert made == {**STORED_POD["spec"], **({"resources": CPU} if is_taken else {})}


def test_what_a_resize_may_not_do_to_containers_is_left_for_validation() -> None:
    renamed = {"nodeName": "m", "initContainers": [CONTAINER], "containers": [{"name": "x"}]}
    made = resized(renamed)
    assert (made["nodeName"], made["containers"][0]["name"]) == ("n", "x")
    assert "image" not in made["containers"][0]
    added: dict[str, Any] = {"containers": [CONTAINER, CONTAINER]}
    removed: dict[str, Any] = {"initContainers": []}
    for more in (added, removed):
        made = resized({**renamed, **more})
        assert made["nodeName"] == "m"
    with answering_as("1.32"):
        assert resized({**renamed, "containers": []})["nodeName"] == "n"


@pytest.mark.parametrize(
    ("subresource", "key"),
    [
        ("resize", "containers"),
        ("resize", "initContainers"),
        ("ephemeralcontainers", "ephemeralContainers"),
    ],
)
def test_subresources_of_pods_drop_what_has_no_gate(subresource: str, key: str) -> None:
    new = {"name": "x", "image": "i", "lifecycle": {"stopSignal": "SIGUSR2"}}
    sent = {"metadata": {"name": "p"}, "spec": {key: [new]}}
    made = prepare_for_update(drafted(sent, POD), STORED_POD, subresource=subresource)
    assert (made["spec"][key][0]["name"], "lifecycle" in made["spec"][key][0]) == ("x", False)


def test_lists_that_came_empty_in_ephemeral_containers_are_judged() -> None:
    """They are not none, and these containers may have no ports: not even no ports."""
    sent = {"spec": {"ephemeralContainers": [{"name": "e", "ports": []}], "tolerations": []}}
    draft = drafted({"metadata": {"name": "p"}, **sent}, POD)
    made = prepare_for_update(draft, STORED_POD, subresource="ephemeralcontainers")
    spec = draft.validated(made)["spec"]
    assert (spec["ephemeralContainers"][0]["ports"], spec.get("tolerations")) == ([], None)


def test_other_endpoints_of_pods_add_containers_alone() -> None:
    made = prepare_for_update(drafted(SENT_POD, POD), STORED_POD, subresource="ephemeralcontainers")
    ephemeral = made["spec"].pop("ephemeralContainers")
    assert [container["name"] for container in ephemeral] == ["e"]
    assert without_empty(made["spec"]) == STORED_POD["spec"]


def test_other_endpoints_of_pods_had_no_managers_before_1_33() -> None:
    sent = {**SENT_POD, "metadata": {"name": "p", "managedFields": [{"manager": "m"}]}}
    for release, managers in (("1.32", None), ("1.33", [{"manager": "m"}])):
        with answering_as(release):
            made = prepare_for_update(
                drafted(sent, POD), STORED_POD, subresource="ephemeralcontainers"
            )
        assert made["metadata"].get("managedFields") == managers


def test_pods_count_their_generations_since_1_33() -> None:
    for release, (created, changed) in {"1.32": (None, None), "1.33": (1, 2)}.items():
        with answering_as(release):
            pod = admit_form({"metadata": {"name": "p"}, "spec": {"nodeName": "a"}}, POD, CONTEXT)
            assert pod["metadata"].get("generation") == created
            sent = {"metadata": {"name": "p"}, "spec": {"nodeName": "b"}}
            made = prepare_for_update(drafted(sent, POD), pod)
            assert made["metadata"].get("generation") == changed


def test_the_class_of_a_pod_stays_since_1_32() -> None:
    old = {"metadata": {"name": "p"}, "status": {"qosClass": "Burstable"}}
    for release, kept in {"1.31": None, "1.32": "Burstable"}.items():
        with answering_as(release):
            made = prepare_for_update(
                drafted({"status": {"phase": "Running"}}, POD), old, subresource="status"
            )
        assert made["status"].get("qosClass") == kept


KEPT: list[tuple[str, str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        *("", "Namespace", "finalize"),
        {"spec": {"finalizers": ["a"]}, "status": {"phase": "Active"}},
        {"spec": {"finalizers": ["b"]}, "status": {"phase": "Terminating"}},
        {"spec": {"finalizers": ["b"]}, "status": {"phase": "Active"}},
    ),
    (
        *("certificates.k8s.io", "CertificateSigningRequest", "approval"),
        {"spec": {"signerName": "a", "request": None}, "status": {"certificate": "AA=="}},
        {"spec": {"signerName": "b"}, "status": {"certificate": "BB=="}},
        {"spec": {"signerName": "a", "request": None}, "status": {"certificate": "AA=="}},
    ),
]


@pytest.mark.parametrize(("group", "kind", "subresource", "old", "sent", "wanted"), KEPT)
def test_what_an_endpoint_keeps(
    group: str,
    kind: str,
    subresource: str,
    old: dict[str, Any],
    sent: dict[str, Any],
    wanted: dict[str, Any],
) -> None:
    gvk = GroupVersionKind(group, "v1", kind)
    draft = drafted({"metadata": {"name": "a"}, **sent}, gvk)
    made = prepare_for_update(draft, {"metadata": {"name": "a"}, **old}, subresource=subresource)
    assert {key: made[key] for key in wanted} == wanted


def test_a_service_without_a_spec_gets_that_of_before() -> None:
    gvk = GroupVersionKind("", "v1", "Service")
    old = {"metadata": {"name": "s"}, "spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1"}}
    made = prepare_for_update(drafted({"metadata": {"name": "s"}}, gvk), old)
    assert made["spec"]["clusterIP"] == "10.0.0.1"


TEMPLATE: Final[dict[str, Any]] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c"}]},
}


@pytest.mark.parametrize(
    ("pod_spec", "generation"),
    [
        ({}, 1),
        ({"tolerations": [], "nodeSelector": {}}, 1),
        ({"containers": [{"name": "c", "env": []}]}, 1),
        ({"containers": [{"name": "c", "env": [{"name": "e"}]}]}, 2),
        ({"containers": [{"name": "c"}, {"name": "d"}]}, 2),
        ({"nodeSelector": {"a": ""}}, 2),
        ({"hostNetwork": True}, 2),
    ],
)
def test_empty_lists_and_maps_are_no_changes(pod_spec: dict[str, Any], generation: int) -> None:
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
    old = stored_form(admit_form({"metadata": {"name": "a"}, "spec": spec}, DEPLOYMENT), DEPLOYMENT)
    old["metadata"]["generation"] = 1
    changed = {**TEMPLATE, "spec": {**TEMPLATE["spec"], **pod_spec}}
    sent = {"metadata": {"name": "a"}, "spec": {**spec, "template": changed}}
    draft = drafted(sent, DEPLOYMENT, CONTEXT)
    draft.decoded["spec"]["template"]["spec"] |= {k: v for k, v in pod_spec.items() if not v}
    assert prepare_for_update(draft, old)["metadata"]["generation"] == generation


@pytest.mark.parametrize(
    ("resource", "sent", "kept"),
    [
        ("v1/configmaps", None, "7"),
        ("v1/configmaps", "", "7"),
        ("v1/configmaps", "6", "6"),
        ("coordination.k8s.io/v1/leases", None, None),
        ("coordination.k8s.io/v1/leases", "6", "6"),
    ],
)
def test_an_update_without_a_version_is_about_the_present_one(
    resource: str, sent: str | None, kept: str | None
) -> None:
    where = target(resource, "a")
    meta = {"name": "a"} if sent is None else {"name": "a", "resourceVersion": sent}
    made = finish_update(drafted({"metadata": meta}, where.kind, CONTEXT), OLD, where)
    assert made["metadata"].get("resourceVersion") == kept
    fresh = finish_update(drafted({"metadata": meta}, where.kind, CONTEXT), {"metadata": {}}, where)
    assert fresh["metadata"].get("resourceVersion") == (sent or None)


def test_a_deletion_that_began_goes_on() -> None:
    now = "2026-01-01T00:00:00Z"
    begun = {"deletionTimestamp": now, "deletionGracePeriodSeconds": 0, "creationTimestamp": now}
    old = {"metadata": {"name": "a", "uid": "u", **begun}}
    sent = {"metadata": {"name": "a", "uid": "v", "deletionTimestamp": "2027-01-01T00:00:00Z"}}
    made = finish_update(drafted(sent, MAPS.kind), old, MAPS)
    assert made["metadata"].items() >= {**begun, "uid": "v"}.items()
    alive = finish_update(drafted(sent, MAPS.kind), OLD, MAPS)
    assert alive["metadata"]["deletionTimestamp"] == "2027-01-01T00:00:00Z"
    pod = {**sent, "spec": {"containers": []}}
    status = finish_update(drafted(pod, POD_STATUS.kind), {**pod, **OLD}, POD_STATUS)
    assert "deletionTimestamp" not in status["metadata"]  # kubelets cannot begin one


DAEMON_SETS = target("apps/v1/daemonsets", "d")
COUNT = "deprecated.daemonset.template.generation"


@pytest.mark.parametrize(
    ("image", "subresource", "count"), [("i", "", "3"), ("j", "", "4"), ("j", "status", "3")]
)
def test_templates_of_daemon_sets_are_counted(image: str, subresource: str, count: str) -> None:
    def daemon_set(image: str) -> dict[str, Any]:
        labels = {"a": "b"}
        template = {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": image}]},
        }
        meta = {"name": "d", "annotations": {COUNT: "3"}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        return admit_form({"metadata": meta, "spec": spec}, DAEMON_SETS.kind, CONTEXT)

    old = daemon_set("i")
    old["metadata"]["annotations"] = {COUNT: "3"}
    draft = drafted(daemon_set(image), DAEMON_SETS.kind)
    made = prepare_for_update(draft, old, subresource=subresource)
    assert made["metadata"]["annotations"][COUNT] == count


SLICE = GroupVersionKind("resource.k8s.io", "v1", "ResourceSlice")


@pytest.mark.parametrize(
    ("capacity", "generation"),
    [
        ({"c": {"value": "1", "requestPolicy": {"default": "1", "validValues": []}}}, 1),
        ({"c": {"value": "2", "requestPolicy": {"default": "1", "validValues": []}}}, 2),
        ({"d": {"value": "1", "requestPolicy": {"default": "1", "validValues": []}}}, 2),
        ({"c": {"value": "1", "requestPolicy": {"default": "1"}}, "d": {"value": "1"}}, 2),
    ],
)
def test_empty_lists_in_lists_and_maps_are_no_changes(
    capacity: dict[str, Any], generation: int
) -> None:
    """They may come from mutating admission, after decoding."""

    def slice_with(capacity: dict[str, Any]) -> dict[str, Any]:
        devices = [{"name": "x", "capacity": capacity}]
        return {"metadata": {"name": "a"}, "spec": {"driver": "d", "devices": devices}}

    before = slice_with({"c": {"value": "1", "requestPolicy": {"default": "1"}}})
    old = stored_form(admit_form(before, SLICE), SLICE)
    old["metadata"]["generation"] = 1
    draft = drafted(before, SLICE)
    draft.decoded["spec"]["devices"][0]["capacity"] = capacity
    assert prepare_for_update(draft, old)["metadata"]["generation"] == generation


def test_a_status_loses_what_no_gate_allows() -> None:
    """That of a pod since 1.33: before, upstream did not look."""
    user = {"linux": {"uid": 1, "gid": 1}}
    bare, used = ([{"name": "c", **more}] for more in ({}, {"user": user}))
    off = DefaultingContext(gates={"SupplementalGroupsPolicy": False})
    cases = (("1.32", bare, used), ("1.33", bare, bare), ("1.33", used, used))
    for release, stored, kept in cases:
        old = {"metadata": {"name": "p"}, "status": {"containerStatuses": stored}}
        sent = {"metadata": {"name": "p"}, "status": {"containerStatuses": used}}
        with answering_as(release):
            made = prepare_for_update(drafted(sent, POD, off), old, subresource="status")
        (found,) = made["status"]["containerStatuses"]
        assert found.get("user") == kept[0].get("user"), release


@pytest.mark.parametrize(("release", "is_kept"), [("1.34", False), ("1.35", True), ("1.36", False)])
def test_whether_devices_are_allocated_depends_on_what_is_dropped_first(
    release: str, is_kept: bool
) -> None:
    """Since 1.35 a share that is not allowed is taken away before its device is looked for."""
    device = {"driver": "d", "pool": "p", "device": "x"}
    claim = GroupVersionKind("resource.k8s.io", "v1", "ResourceClaim")

    def status(**more: str) -> dict[str, Any]:
        results = [{"request": "r", **device, **more}]
        return {"allocation": {"devices": {"results": results}}, "devices": [device]}

    old = {"metadata": {"name": "c"}, "status": status()}
    sent = {"metadata": {"name": "c"}, "status": status(shareID="s")}
    with answering_as(release):
        made = prepare_for_update(drafted(sent, claim), old, subresource="status")
    assert ("devices" in made["status"]) is is_kept


def test_a_source_in_another_namespace_is_dropped_before_sources_are_made_to_agree() -> None:
    kind = GroupVersionKind("", "v1", "PersistentVolumeClaim")
    away = {"kind": "A", "name": "b", "namespace": "n"}
    classic = {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "b"}
    old = {"metadata": {"name": "c"}, "spec": {}}
    for source, kept in (({"kind": "A", "name": "b"}, None), (classic, classic)):
        sent = {"metadata": {"name": "c"}, "spec": {"dataSource": source, "dataSourceRef": away}}
        spec = prepare_for_update(drafted(sent, kind), old)["spec"]
        assert (spec.get("dataSource"), spec.get("dataSourceRef")) == (kept, kept)


@pytest.mark.parametrize("is_mutated", [False, True])
def test_only_dry_runs_answer_links_of_objects_to_themselves(is_mutated: bool) -> None:
    sent = {"metadata": {"name": "a", "selfLink": "/a"}, "data": {"k": "v"}}
    draft = drafted(sent, MAPS.kind, CONTEXT)
    draft.is_mutated = is_mutated
    answered = stored_update(draft, {**draft.decoded}, OLD, MAPS, dry_run=True)
    assert "selfLink" in answered["metadata"]
    assert "selfLink" not in stored_update(draft, {**draft.decoded}, OLD, MAPS)["metadata"]
    new = drafted(sent, MAPS.kind, CONTEXT)
    new.is_mutated = is_mutated
    answered = stored_new(new, {**new.decoded}, MAPS, dry_run=True)
    assert "selfLink" in answered["metadata"]
    assert "selfLink" not in stored_new(new, {**new.decoded}, MAPS)["metadata"]


SCALES = target("apps/v1/deployments", "d", "scale")
STALE_SCALES: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"uid": "u", "resourceVersion": "7"}, ""),
    ({"uid": "v"}, "Precondition failed: UID in precondition: v, UID in object meta: u"),
    (
        {"uid": "u", "resourceVersion": "8"},
        "the object has been modified; please apply your changes to the latest version and try "
        "again",
    ),
]


@pytest.mark.parametrize(("meta", "reason"), STALE_SCALES)
def test_scales_of_another_object_or_state(meta: dict[str, Any], reason: str) -> None:
    if not reason:
        require_state_of_scale({"metadata": meta}, OLD, SCALES)
        return
    with pytest.raises(StatusError) as caught:
        require_state_of_scale({"metadata": meta}, OLD, SCALES)
    resource = "deployments/scale.apps" if meta["uid"] == "v" else "deployments.apps"
    assert (caught.value.code, str(caught.value)) == (
        409,
        f'Operation cannot be fulfilled on {resource} "d": {reason}',
    )
