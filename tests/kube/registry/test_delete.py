"""Deletions: options, finalizers, what is answered."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import GroupVersionKind
from celadon.kube.registry import Target
from celadon.kube.registry.delete import (
    DeleteOptions,
    delete_options,
    delete_warnings,
    goes_at_once,
    gone_answer,
    is_released,
    marked,
    nothing,
    read_delete_options,
    remaining_finalizers,
    require_deletable,
    settled,
)
from celadon.kube.releases import answering_as
from celadon.kube.resources import known_resources
from celadon.kube.status import StatusError
from tests.kube.registry.targets import target

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
NOW = "2026-01-01T00:00:00Z"


def obj(**meta: Any) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": "a", "uid": "u", **meta}}


def test_options_come_from_the_body_or_else_from_the_query() -> None:
    query = {"propagationPolicy": ["Orphan"], "gracePeriodSeconds": ["-5"], "dryRun": ["All"]}
    assert delete_options(None, query) == DeleteOptions(("All",), "Orphan", grace=1)
    assert delete_options({}, query) == DeleteOptions()
    named = {"uid": ["u", "v"], "resourceVersion": ["7"], "preconditions": ["x"]}
    preconditions = {"uid": "u", "resourceVersion": "7"}
    assert delete_options(None, named) == DeleteOptions(preconditions=preconditions)
    assert delete_options(None, {"uid": [""], "resourceVersion": []}) == DeleteOptions()
    body = {"orphanDependents": False, "preconditions": {"uid": "u"}, "gracePeriodSeconds": 3}
    wanted = DeleteOptions(orphan=False, grace=3, preconditions={"uid": "u"})
    assert delete_options(body, query) == wanted


@pytest.mark.parametrize(
    ("text", "orphan"),
    [("true", True), ("maybe", True), ("", True), ("0", False), ("False", False)],
)
def test_flags_of_the_query_are_read_as_go_reads_them(text: str, orphan: bool) -> None:
    assert delete_options(None, {"orphanDependents": [text]}).orphan is orphan


def test_wrong_options() -> None:
    with pytest.raises(StatusError, match=r'strconv\.ParseInt: parsing "x": invalid syntax'):
        delete_options(None, {"gracePeriodSeconds": ["x"]})
    with pytest.raises(StatusError, match='propagationPolicy: Unsupported value: "Bogus"'):
        delete_options({"propagationPolicy": "Bogus"}, {})
    with pytest.raises(StatusError, match="cannot be both set"):
        delete_options({"propagationPolicy": "Orphan", "orphanDependents": True}, {})


CHOICES = [
    (["a/b"], DeleteOptions(), ["a/b"]),
    (["orphan"], DeleteOptions(), ["orphan"]),
    ([], DeleteOptions(propagation="Foreground"), ["foregroundDeletion"]),
    (["orphan", "a/b"], DeleteOptions(propagation="Foreground"), ["a/b", "foregroundDeletion"]),
    (["foregroundDeletion"], DeleteOptions(propagation="Background"), []),
    ([], DeleteOptions(orphan=True), ["orphan"]),
    (["orphan"], DeleteOptions(orphan=False), []),
]


@pytest.mark.parametrize(("have", "options", "left"), CHOICES)
def test_finalizers(have: list[str], options: DeleteOptions, left: list[str]) -> None:
    assert remaining_finalizers(obj(finalizers=have), options) == left


@pytest.mark.parametrize(
    ("version", "kind", "have", "options", "left"),
    [
        ("v1", "Event", ["a/b", "orphan"], DeleteOptions(), ["a/b"]),
        ("events.k8s.io/v1", "Event", [], DeleteOptions(propagation="Foreground"), []),
        ("batch/v1", "Job", [], DeleteOptions(), ["orphan"]),
        ("batch/v1", "Job", ["foregroundDeletion"], DeleteOptions(), ["foregroundDeletion"]),
        ("batch/v1", "Job", [], DeleteOptions(propagation="Background"), []),
        ("batch/v1", "Job", [], DeleteOptions(orphan=False), []),
        ("v1", "ReplicationController", ["a/b"], DeleteOptions(), ["a/b", "orphan"]),
        ("batch/v1", "CronJob", [], DeleteOptions(), []),
    ],
)
def test_some_kinds_keep_their_dependents(
    version: str, kind: str, have: list[str], options: DeleteOptions, left: list[str]
) -> None:
    old = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "finalizers": have}}
    assert remaining_finalizers(old, options) == left


def test_who_deletes_a_job_is_told_that_its_pods_stay() -> None:
    job = GroupVersionKind("batch", "v1", "Job")
    (warning,) = delete_warnings(DeleteOptions(), job)
    assert warning.startswith("child pods are preserved by default when jobs are deleted; set ")
    assert not delete_warnings(DeleteOptions(propagation="Orphan"), job)
    assert not delete_warnings(DeleteOptions(), GroupVersionKind("batch", "v1", "CronJob"))


def test_marked_objects_wait() -> None:
    assert marked(obj(), DeleteOptions(), NOW) is None
    held = obj(finalizers=["a/b"], generation=3)
    made = marked(held, DeleteOptions(), NOW)
    assert made is not None
    assert made["metadata"] == {
        **held["metadata"],
        "generation": 4,
        "deletionTimestamp": NOW,
        "deletionGracePeriodSeconds": 0,
    }
    assert marked(made, DeleteOptions(), "2027-01-01T00:00:00Z") == made


ENDS = [
    ("1.33", 5, "2026-01-01T00:00:06Z", ("2026-01-01T00:00:06Z", 1)),
    ("1.33", 0, "2026-01-01T00:00:06Z", ("2026-01-01T00:00:06Z", 0)),
    ("1.33", 5, "2026-01-01T00:00:04Z", ("2026-01-01T00:00:05Z", 5)),
    ("1.32", 5, "2026-01-01T00:00:06Z", ("2026-01-01T00:00:05Z", 5)),
    ("1.36", 60, "2026-01-01T00:00:06Z", ("2026-01-01T00:00:30Z", 30)),
]


@pytest.mark.parametrize(("release", "grace", "now", "end"), ENDS)
def test_the_time_that_is_left(release: str, grace: int, now: str, end: tuple[str, int]) -> None:
    meta = {
        "name": "p",
        "deletionTimestamp": "2026-01-01T00:00:30Z",
        "deletionGracePeriodSeconds": 30,
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"nodeName": "n"}}
    with answering_as(release):
        kept = marked(pod, DeleteOptions(grace=grace), now)
    assert kept is not None
    found = kept["metadata"]
    assert (found["deletionTimestamp"], found["deletionGracePeriodSeconds"]) == end


GRACES: list[tuple[dict[str, Any], str, int | None, int]] = [
    ({"nodeName": "n", "terminationGracePeriodSeconds": 7}, "Running", None, 7),
    ({"nodeName": "n", "terminationGracePeriodSeconds": 7}, "Running", 3, 3),
    ({"nodeName": "n", "terminationGracePeriodSeconds": 7}, "Pending", 0, 0),
    ({"nodeName": "n", "terminationGracePeriodSeconds": -5}, "Running", None, 1),
    ({"nodeName": "n", "terminationGracePeriodSeconds": 7}, "Succeeded", None, 0),
    ({"nodeName": "n", "terminationGracePeriodSeconds": 7}, "Failed", 3, 0),
    ({"terminationGracePeriodSeconds": 7}, "Pending", None, 0),
    ({"terminationGracePeriodSeconds": 7}, "Pending", 3, 0),
    ({"nodeName": "n"}, "Running", None, 0),
]


@pytest.mark.parametrize(
    ("grace", "end"),
    [
        (4_000_000_000, "2153-09-01T19:05:56Z"),
        (1 << 34, "1986-10-08T14:17:46Z"),
        (1 << 40, "1795-10-22T14:01:49Z"),
        ((1 << 63) - 1, "2026-11-30T11:59:15Z"),
    ],
)
def test_time_is_counted_in_nanoseconds_of_64_bits(grace: int, end: str) -> None:
    spec = {"nodeName": "n"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    kept = marked(pod, DeleteOptions(grace=grace), "2026-11-30T11:59:16Z")
    assert kept is not None
    assert kept["metadata"]["deletionTimestamp"] == end
    assert kept["metadata"]["deletionGracePeriodSeconds"] == grace
    with answering_as("1.30"):
        for shorter in range(grace - 1, grace - 40, -1):
            again = marked(kept, DeleteOptions(grace=shorter % (1 << 40)), end)
            kept = again or kept


@pytest.mark.parametrize(("spec", "phase", "asked", "given"), GRACES)
def test_how_long_a_pod_has(
    spec: dict[str, Any], phase: str, asked: int | None, given: int
) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    pod["status"] = {"phase": phase}
    options = DeleteOptions(grace=asked)
    assert settled(options, pod) == DeleteOptions(grace=given)
    made = marked(pod, options, NOW)
    assert made is not None
    assert made["metadata"] == {
        "name": "p",
        "deletionTimestamp": f"2026-01-01T00:00:0{given}Z",
        "deletionGracePeriodSeconds": given,
    }
    assert goes_at_once(made) is (given == 0)
    assert settled(options, made) == options


def test_a_pod_loses_the_finalizers_that_the_options_do_not_choose() -> None:
    meta = {"name": "p", "finalizers": ["foregroundDeletion"]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta}
    kept = marked(pod, DeleteOptions(orphan=False, grace=0), NOW)
    assert kept is not None
    assert "finalizers" not in kept["metadata"]
    assert goes_at_once(kept)


ORPHANED = ["e.com/a", "orphan"]
GOING: list[tuple[int, list[str], DeleteOptions, list[str] | None]] = [
    (30, [], DeleteOptions(propagation="Orphan"), []),
    (30, ["orphan"], DeleteOptions(propagation="Background"), ["orphan"]),
    (30, ["orphan"], DeleteOptions(propagation="Background", grace=30), ["orphan"]),
    (30, [], DeleteOptions(propagation="Orphan", grace=5), ["orphan"]),
    (30, ORPHANED, DeleteOptions(propagation="Background", grace=5), ["e.com/a"]),
    (0, ORPHANED, DeleteOptions(propagation="Background"), ["e.com/a"]),
    (0, ["orphan"], DeleteOptions(propagation="Background"), None),
    (0, [], DeleteOptions(), None),
]


@pytest.mark.parametrize(("left", "finalizers", "options", "kept"), GOING)
def test_a_pod_that_is_going_keeps_its_finalizers_until_it_has_no_time_or_gets_less(
    left: int, finalizers: list[str], options: DeleteOptions, kept: list[str] | None
) -> None:
    over = {"deletionTimestamp": "2027-01-01T00:00:30Z", "deletionGracePeriodSeconds": left}
    meta = {"name": "p", "finalizers": finalizers, **over}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"nodeName": "n"}}
    made = marked(pod, options, NOW)
    assert (made and (made["metadata"].get("finalizers") or [])) == kept


def test_what_a_dry_run_shows_of_an_object_that_loses_its_finalizers() -> None:
    empty = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}}
    assert nothing(target("v1/configmaps", "a")) == empty
    event = nothing(target("v1/events", "a"))
    assert (event["involvedObject"], event["firstTimestamp"]) == ({}, None)


@pytest.mark.parametrize(
    ("release", "resource", "spec", "annotations"),
    [
        ("1.36", "apps/v1/deployments", 0, None),
        ("1.30", "apps/v1/statefulsets", 0, None),
        ("1.32", "v1/replicationcontrollers", 0, None),
        ("1.33", "v1/replicationcontrollers", None, None),
        ("1.36", "apps/v1/daemonsets", None, {"deprecated.daemonset.template.generation": "0"}),
    ],
)
def test_nothing_has_the_counts_of_its_internal_form(
    release: str, resource: str, spec: int | None, annotations: object
) -> None:
    with answering_as(release):
        shown: Any = nothing(target(resource, "a"))
    assert shown["spec"].get("replicas") == spec
    assert shown["metadata"].get("annotations") == annotations


def test_only_pods_without_finalizers_go_at_once() -> None:
    assert settled(DeleteOptions(), obj()) == DeleteOptions()
    over: dict[str, Any] = {"deletionTimestamp": NOW, "deletionGracePeriodSeconds": 0}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", **over}}
    assert goes_at_once(pod)
    assert not goes_at_once({**pod, "metadata": {**over, "finalizers": ["a/b"]}})
    assert not goes_at_once({**pod, "kind": "Other"})


def test_definitions_wait_for_their_objects() -> None:
    """Whatever is to become of dependents."""
    condition = {"type": "Established", "status": "True"}
    old = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "d", "finalizers": [CLEANUP, "a/b"]},
        "status": {"conditions": [condition]},
    }
    made = marked(old, DeleteOptions(orphan=True), NOW)
    assert made is not None
    assert made["metadata"] == {
        "name": "d",
        "finalizers": [CLEANUP, "a/b"],
        "deletionTimestamp": NOW,
    }
    pending = {
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": NOW,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will "
        "begin soon",
    }
    assert made["status"] == {"conditions": [condition, pending]}
    without: dict[str, Any] = {key: value for key, value in old.items() if key != "status"}
    without["metadata"] = {"name": "d", "finalizers": ["a/b"]}
    first = marked(without, DeleteOptions(), NOW)
    assert first is not None
    assert first["status"] == {"conditions": [pending]}
    assert first["metadata"]["finalizers"] == ["a/b", CLEANUP]
    again = marked(made, DeleteOptions(), "2027-01-01T00:00:00Z")
    assert again == made


def test_namespaces_wait_for_what_is_in_them() -> None:
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n"},
        "spec": {"finalizers": ["kubernetes"]},
    }
    made = marked(space, DeleteOptions(), NOW)
    assert made is not None
    assert made["status"] == {"phase": "Terminating"}
    assert made["metadata"] == {"name": "n", "deletionTimestamp": NOW}
    assert marked(made, DeleteOptions(propagation="Orphan"), "2027-01-01T00:00:00Z") == made
    waiting = marked(space, DeleteOptions(orphan=False), NOW)
    assert waiting is not None
    assert waiting["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_a_namespace_without_finalizers_is_only_marked_at_first() -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}, "spec": {}}
    made = marked(space, DeleteOptions(), NOW)
    assert made is not None
    assert (made["metadata"]["deletionTimestamp"], made["status"]) == (
        NOW,
        {"phase": "Terminating"},
    )
    assert marked(made, DeleteOptions(), NOW) is None


@pytest.mark.parametrize("kind", ["Namespace", "CustomResourceDefinition", "Box"])
@pytest.mark.parametrize("spec", [{"finalizers": ["a/b"]}, 1, "text", ["finalizers"], None])
def test_custom_resources_wait_for_their_metadata_only(kind: str, spec: object) -> None:
    """Whatever their kind is called, and whatever stands in their `spec`."""
    box = {"apiVersion": "x.io/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    assert marked(box, DeleteOptions(), NOW) is None
    held = {**box, "metadata": {"name": "a", "finalizers": ["a/b"]}}
    made = marked(held, DeleteOptions(), NOW)
    assert made is not None
    assert "status" not in made
    assert made["metadata"]["deletionGracePeriodSeconds"] == 0
    assert is_released({**made, "metadata": {"name": "a"}}, made)


def test_the_last_finalizer_releases() -> None:
    old = obj(finalizers=["a/b"], deletionTimestamp=NOW, deletionGracePeriodSeconds=0)
    assert is_released(obj(), old)
    assert not is_released(obj(finalizers=["a/b"]), old)
    assert not is_released(obj(), obj(finalizers=["a/b"]))
    assert not is_released(obj(), obj(deletionTimestamp=NOW, deletionGracePeriodSeconds=30))


def test_answers() -> None:
    status = gone_answer(obj(), target("v1/configmaps", "a"))
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    assert status == {**head, "details": {"name": "a", "kind": "configmaps", "uid": "u"}}
    nameless = gone_answer({"metadata": {"name": "a"}}, target("v1/configmaps", "a"))
    assert nameless["details"] == {"name": "a", "kind": "configmaps"}
    policies = target("apps/v1/deployments", "a")
    details = {"name": "a", "group": "apps", "kind": "deployments", "uid": "u"}
    assert gone_answer(obj(), policies)["details"] == details
    pod = gone_answer(obj(), target("v1/pods", "a"))
    assert (pod["apiVersion"], pod["kind"], pod["metadata"]["uid"]) == ("v1", "Pod", "u")
    request = target("resource.k8s.io/v1alpha3/resourcepoolstatusrequests", "a")
    assert gone_answer(obj(), request)["kind"] == "ResourcePoolStatusRequest"


STORAGE = {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"}
CLAIMS = {"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}
CORE = {
    *("Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate"),
    *("ResourceQuota", "Service", "ServiceAccount"),
}


@pytest.mark.parametrize(
    ("release", "shown"),
    [
        (
            "1.30",
            CLAIMS
            | {"PodSchedulingContext", "ResourceClass"}
            | {"ResourceClaimParameters", "ResourceClassParameters"},
        ),
        ("1.31", CLAIMS | {"PodSchedulingContext", "DeviceClass"}),
        ("1.36", CLAIMS | {"DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest"}),
    ],
)
def test_kinds_that_are_shown_when_they_are_gone(release: str, shown: set[str]) -> None:
    """Those with `ReturnDeletedObject` in their REST storage."""
    with answering_as(release):
        kinds = {
            resource.gvk.kind
            for resource in known_resources(all_versions=True)
            if gone_answer(obj(), Target(resource, "", "a"))["kind"] == resource.gvk.kind
        }
    assert kinds == CORE | STORAGE | shown


OLD = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}


def test_preconditions() -> None:
    require_deletable({}, OLD, target("v1/configmaps", "a"))
    require_deletable({"uid": "u", "resourceVersion": "7"}, OLD, target("v1/configmaps", "a"))
    with pytest.raises(StatusError, match=r'on ConfigMap "a": the UID in the precondition \(x\)'):
        require_deletable({"uid": "x"}, OLD, target("v1/configmaps", "a"))
    with pytest.raises(StatusError, match=r"in record \(7\). The object might have been modified"):
        require_deletable({"resourceVersion": "6"}, OLD, target("v1/configmaps", "a"))


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("Namespace", "v1/namespaces"),
        ("CustomResourceDefinition", "apiextensions.k8s.io/v1/customresourcedefinitions"),
    ],
)
def test_some_deletions_are_always_about_the_object_that_is_there(kind: str, resource: str) -> None:
    where = target(resource, "a")
    old = {**OLD, "apiVersion": where.kind.api_version, "kind": kind}
    assert settled(DeleteOptions(grace=5), old).preconditions == {"uid": "u"}
    asked = DeleteOptions(preconditions={"uid": "x", "resourceVersion": "7"})
    assert settled(asked, old).preconditions == asked.preconditions
    text = 'cannot be fulfilled on {} "a": Precondition failed: {} in precondition: x, {} in object'
    for member, said in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        with pytest.raises(StatusError, match=text.format(where.group_resource, said, said)):
            require_deletable({member: "x"}, old, where)


READ: list[tuple[str, dict[str, object]]] = [
    ("{}", {}),
    ("null", {}),
    ('{"zap":1,"gracePeriodSeconds":5}', {"gracePeriodSeconds": 5}),
    ('{"apiVersion":"apps/v1","kind":"DeleteOptions","dryRun":["All"]}', {"dryRun": ["All"]}),
    ('{"orphanDependents":null,"preconditions":{"uid":"u"}}', {"preconditions": {"uid": "u"}}),
]


@pytest.mark.parametrize(("body", "members"), READ)
def test_members_of_a_body(body: str, members: dict[str, object]) -> None:
    found = read_delete_options(body.encode())
    assert {key: found[key] for key in members} == members
    assert "zap" not in found


REFUSED = [
    ("{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
    ('{"kind":5}', "cannot unmarshal number into Go struct field .kind of type string"),
    ("[]", "cannot unmarshal array into Go value of type struct"),
    (
        '{"kind":"Pod","apiVersion":"v1"}',
        'no kind "Pod" is registered for version "v1" in scheme '
        '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
    ),
    (
        '{"kind":"Status","apiVersion":"apps/v1"}',
        "converting (v1.Status) to (v1.DeleteOptions): unknown conversion",
    ),
    ('{"apiVersion":"a/"}', "Object 'apiVersion' is missing in '{\"apiVersion\":\"a/\"}'"),
    ('{"kind":"ListOptions"}', "converting (v1.ListOptions) to (v1.DeleteOptions)"),
    ('{"kind":"ListOptions","apiVersion":"v1"}', 'no kind "ListOptions" is registered'),
    ('{"kind":"Pod"}', 'no kind "Pod" is registered for version "meta.k8s.io/v1" in scheme'),
    (
        '{"gracePeriodSeconds":"x"}',
        "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of "
        "type int64",
    ),
]


@pytest.mark.parametrize(("body", "why"), REFUSED)
def test_what_cannot_be_read(body: str, why: str) -> None:
    with pytest.raises(StatusError) as refused:
        read_delete_options(body.encode())
    assert refused.value.code == 400
    assert why in str(refused.value)
