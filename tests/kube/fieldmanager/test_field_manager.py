"""What a server does at each write: managers of creates and updates, and applies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from celadon.kube.crd import custom_kinds
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import (
    FieldWriter,
    Versions,
    applied,
    parent_managers,
    read_applied,
    track_create,
    track_update,
)
from celadon.kube.fieldmanager.field_manager import LAST_APPLIED, MAX_ANNOTATIONS
from celadon.kube.fieldmanager.managed_fields import MAX_UPDATERS
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry import (
    Draft,
    Surroundings,
    Target,
    create,
    shown_object,
    stored_object,
    update,
    write_errors,
)
from celadon.kube.registry.request_bodies import read_object
from celadon.kube.resources.api_resources import known_resources
from celadon.kube.status import StatusError
from tests.kube.registry.targets import target

Object = dict[str, Any]

CONFIG_MAPS = target("v1/configmaps", "a")
DEPLOYMENTS = target("apps/v1/deployments", "d")
SCALES = target("apps/v1/deployments", "d", "scale")
STATUS = target("apps/v1/deployments", "d", "status")

GIZMO = GroupVersionKind("example.com", "v1", "Gizmo")


class Clock:
    """A second for each write."""

    def __init__(self) -> None:
        self.seconds = 0

    def writer(self, manager: str, versions: Versions | None = None) -> FieldWriter:
        self.seconds += 1
        now = f"2025-01-01T00:00:{self.seconds:02}Z"
        return FieldWriter(manager, now, versions or Versions())


def _context() -> DefaultingContext:
    return DefaultingContext(uid="0000")


def _created(body: Object, where: Target, writer: FieldWriter) -> Object:
    read = read_object(json.dumps(body).encode(), where, _context())
    track_create(read.draft, where, writer)
    made = create.finish_create(create.begin_create(read.draft, where))
    return stored_object(made, where, _context())


def _updated(body: Object, live: Object, where: Target, writer: FieldWriter) -> Object:
    read = read_object(json.dumps(body).encode(), where, _context())
    track_update(read.draft, read.body, live, where, writer)
    shown = shown_object(live, where)
    made = update.finish_update(update.begin_update(read.draft, where), shown, where)
    return _stored(read.draft, made, live, where, writer)


def _stored(draft: Draft, made: Object, live: Object, where: Target, writer: FieldWriter) -> Object:
    if where.subresource == "scale":
        made["metadata"]["managedFields"] = parent_managers(made, live, where, writer)
    return update.stored_update(draft, made, live, where)


def _applied(
    config: Object, live: Object, where: Target, writer: FieldWriter, *, force: bool = False
) -> Object:
    merged = applied(config, live, where, writer, force=force)
    read = read_applied(merged, where, _context(), config)
    shown = shown_object(live, where)
    made = update.finish_update(read.draft, shown, where)
    return _stored(read.draft, made, live, where, writer)


def _owners(obj: Object) -> dict[str, Any]:
    """The fields of each manager, under its name, operation and subresource."""
    found = {}
    for entry in obj["metadata"].get("managedFields", ()):
        under = f"/{entry['subresource']}" if "subresource" in entry else ""
        found[f"{entry['manager']} {entry['operation']}{under}"] = entry["fieldsV1"]
    return found


def _config_map(data: Object | None = None, **meta: Any) -> Object:
    made: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **meta}}
    return made if data is None else {**made, "data": data}


def _deployment(replicas: int) -> Object:
    labels = {"matchLabels": {"a": "b"}}
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    spec = {"replicas": replicas, "selector": labels, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def test_a_create_owns_all_but_the_structs_of_go() -> None:
    made = _created(_deployment(1), DEPLOYMENTS, Clock().writer("m"))
    spec = _owners(made)["m Update"]["f:spec"]
    assert "." not in spec
    assert spec["f:selector"] == {}
    assert spec["f:strategy"] == {
        "f:rollingUpdate": {".": {}, "f:maxSurge": {}, "f:maxUnavailable": {}},
        "f:type": {},
    }
    container = spec["f:template"]["f:spec"]["f:containers"]['k:{"name":"c"}']
    assert list(container)[:3] == [".", "f:image", "f:imagePullPolicy"]


def test_managers_in_the_body_of_a_create_that_cannot_be_read_do_not_count() -> None:
    body = _config_map({"k": "1"}, managedFields=[{"manager": "ghost"}], uid="x")
    made = _created(body, CONFIG_MAPS, Clock().writer(""))
    assert _owners(made) == {"unknown Update": {"f:data": {".": {}, "f:k": {}}}}


def test_managers_in_the_body_of_a_create_keep_what_is_not_there() -> None:
    fields: Object = {"f:data": {"f:k": {}, "f:gone": {}}}
    entry = {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    entries = [{**entry, "manager": "ghost", "fieldsV1": fields}, {**entry, "fieldsV1": fields}]
    made = _created(_config_map({"k": "1"}, managedFields=entries), CONFIG_MAPS, Clock().writer(""))
    kept: Object = {"f:data": {"f:gone": {}}}
    assert [(one.get("manager"), one["fieldsV1"]) for one in made["metadata"]["managedFields"]] == [
        (None, kept),
        ("ghost", kept),
        ("unknown", {"f:data": {".": {}, "f:k": {}}}),
    ]


def test_an_update_takes_what_it_changes() -> None:
    clock = Clock()
    live = _created(_config_map({"k": "1", "l": "1"}), CONFIG_MAPS, clock.writer("one"))
    made = _updated(_config_map({"k": "2", "l": "1"}), live, CONFIG_MAPS, clock.writer("two"))
    assert _owners(made) == {
        "one Update": {"f:data": {".": {}, "f:l": {}}},
        "two Update": {"f:data": {"f:k": {}}},
    }
    same = _updated(_config_map({"k": "2", "l": "1"}), made, CONFIG_MAPS, clock.writer("three"))
    assert same["metadata"]["managedFields"] == made["metadata"]["managedFields"]


def test_a_removal_changes_no_time() -> None:
    clock = Clock()
    live = _created(_config_map({"k": "1", "l": "1"}), CONFIG_MAPS, clock.writer("one"))
    made = _updated(_config_map({"k": "1"}), live, CONFIG_MAPS, clock.writer("one"))
    assert _owners(made) == {"one Update": {"f:data": {".": {}, "f:k": {}}}}
    assert made["metadata"]["managedFields"][0]["time"] == "2025-01-01T00:00:01Z"


def test_a_stored_object_that_nobody_owns_stays_so() -> None:
    clock = Clock()
    live = _created(_config_map(), CONFIG_MAPS, clock.writer("one"))
    assert _owners(live) == {}
    assert _owners(_updated(_config_map({"k": "1"}), live, CONFIG_MAPS, clock.writer("two"))) == {}


def test_an_empty_list_forgets_the_managers() -> None:
    clock = Clock()
    live = _created(_config_map({"k": "1"}), CONFIG_MAPS, clock.writer("one"))
    body = _config_map({"k": "2"}, managedFields=[])
    assert _owners(_updated(body, live, CONFIG_MAPS, clock.writer("two"))) == {}


def test_the_oldest_updaters_become_one() -> None:
    clock = Clock()
    live = _created(_config_map({"z": "1"}), CONFIG_MAPS, clock.writer("first"))
    for i in range(MAX_UPDATERS + 1):
        body = _config_map({**live["data"], f"k{i:02}": "1"})
        live = _updated(body, live, CONFIG_MAPS, clock.writer(f"u{i:02}"))
    found = _owners(live)
    assert len(found) == MAX_UPDATERS
    assert found["ancient-changes Update"] == {
        "f:data": {".": {}, "f:k00": {}, "f:k01": {}, "f:z": {}}
    }
    assert live["metadata"]["managedFields"][0]["time"] == "2025-01-01T00:00:03Z"


def test_each_endpoint_gives_what_it_writes() -> None:
    clock = Clock()
    live = _created({**_deployment(1), "status": {"replicas": 7}}, DEPLOYMENTS, clock.writer("m"))
    assert "f:status" not in _owners(live)["m Update"]
    body = {**_deployment(5), "status": {"replicas": 3}}
    body["metadata"]["annotations"] = {"x": "y"}
    made = _updated(body, live, STATUS, clock.writer("ctl"))
    assert _owners(made)["ctl Update/status"] == {
        "f:metadata": {"f:annotations": {".": {}, "f:x": {}}},
        "f:status": {"f:replicas": {}},
    }


def _scale(replicas: int) -> Object:
    meta = {"name": "d", "namespace": "ns"}
    spec = {"replicas": replicas}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": meta, "spec": spec}


OF_THE_SERVER = {
    "namespace": "ns",
    "creationTimestamp": "2024-01-01T00:00:00Z",
    "selfLink": "/here",
    "generation": 3,
    "resourceVersion": "7",
}


@pytest.mark.parametrize("name", OF_THE_SERVER)
def test_what_the_server_writes_is_nobodys(name: str) -> None:
    """By the names in upstream's `stripmeta.go`; `uid` would have to be that of an object that is
    there, and no kind has a `clusterName` any more."""
    config = _config_map({"k": "1"}, labels={"a": "b"}, **{name: OF_THE_SERVER[name]})
    made = applied(config, None, CONFIG_MAPS, Clock().writer("m"))
    assert _owners(made) == {
        "m Apply": {"f:data": {"f:k": {}}, "f:metadata": {"f:labels": {"f:a": {}}}}
    }


def test_a_scale_takes_the_count_from_its_owners() -> None:
    clock = Clock()
    live = _applied(_deployment(1), _created(_deployment(1), DEPLOYMENTS, clock.writer("m")),
                    DEPLOYMENTS, clock.writer("app"))  # fmt: skip
    made = _updated(_scale(3), live, SCALES, clock.writer("hpa"))
    assert made["spec"]["replicas"] == 3
    found = _owners(made)
    assert found["hpa Update/scale"] == {"f:spec": {"f:replicas": {}}}
    entries = made["metadata"]["managedFields"]
    assert [one.get("time") for one in entries if one["manager"] == "hpa"] == [None]
    assert "f:replicas" not in found["m Update"]["f:spec"]
    assert "f:replicas" not in found["app Apply"]["f:spec"]
    with pytest.raises(StatusError) as caught:
        applied(_deployment(1), made, DEPLOYMENTS, clock.writer("app"))
    assert str(caught.value) == (
        'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using '
        "apps/v1: .spec.replicas"
    )
    forced = _applied(_scale(4), made, SCALES, clock.writer("app2"), force=True)
    assert _owners(forced)["app2 Apply/scale"] == {"f:spec": {"f:replicas": {}}}
    assert "hpa Update/scale" not in _owners(forced)


def test_an_apply_gives_up_what_it_no_longer_says() -> None:
    clock = Clock()
    live = _created(_config_map({"z": "1"}), CONFIG_MAPS, clock.writer("one"))
    live = _applied(_config_map({"a": "1", "b": "1"}), live, CONFIG_MAPS, clock.writer("m"))
    live = _applied(_config_map({"b": "1"}), live, CONFIG_MAPS, clock.writer("n"))
    live = _applied(_config_map(), live, CONFIG_MAPS, clock.writer("m"))
    assert live["data"] == {"b": "1", "z": "1"}
    assert set(_owners(live)) == {"one Update", "n Apply"}


def test_before_the_first_apply_somebody_owned_it_all() -> None:
    clock = Clock()
    live = _created(_config_map(), CONFIG_MAPS, clock.writer("one")) | {"data": {"k": "1"}}
    made = _applied(_config_map({"l": "1"}), live, CONFIG_MAPS, clock.writer("m"))
    assert _owners(made) == {
        "m Apply": {"f:data": {"f:l": {}}},
        "before-first-apply Update": {"f:data": {".": {}, "f:k": {}}},
    }


def test_an_apply_of_the_same_has_no_time() -> None:
    clock = Clock()
    live = _created(_config_map({"k": "1"}), CONFIG_MAPS, clock.writer("one"))
    made = applied(_config_map({"k": "1"}), live, CONFIG_MAPS, clock.writer("m"))
    assert "time" not in made["metadata"]["managedFields"][0]


def test_several_conflicts() -> None:
    clock = Clock()
    live = _created(_config_map({"a": "1"}), CONFIG_MAPS, clock.writer("upd"))
    live = _applied(_config_map({"b": "1", "c": "1"}), live, CONFIG_MAPS, clock.writer("m"))
    with pytest.raises(StatusError) as caught:
        applied(_config_map({"a": "2", "b": "2", "c": "2"}), live, CONFIG_MAPS, clock.writer("n"))
    assert caught.value.code == 409
    assert str(caught.value) == (
        'Apply failed with 3 conflicts: conflicts with "m":\n- .data.b\n- .data.c\n'
        'conflicts with "upd" using v1:\n- .data.a'
    )
    details = caught.value.status.details
    assert details is not None
    assert details.causes[0].to_json() == {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "m"',
        "field": ".data.b",
    }


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        ({}, 400, "invalid object type: /, Kind="),
        ({"apiVersion": "v2", "kind": "A"}, 400, "invalid object type: /v2, Kind=A"),
        ({"apiVersion": "/", "kind": "A"}, 400, "invalid object type: /, Kind=A"),
        ({"apiVersion": "a/b/c", "kind": "A"}, 400, "invalid object type: /, Kind="),
        (_config_map(managedFields=[]), 400, "metadata.managedFields must be nil"),
        (_config_map({"a": 1}, namespace="n"), 500,
         "failed to create typed patch object (n/a; /v1, Kind=ConfigMap): .data.a: expected "
         "string, got &value.valueUnstructured{Value:1}"),
        (_config_map(uid="1"), 409,
         'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object '
         "specified uid 1, and no existing object was found"),
    ],
)  # fmt: skip
def test_refused_bodies(config: Object, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        applied(config, None, CONFIG_MAPS, Clock().writer("m"))
    assert (caught.value.code, str(caught.value)) == (code, message)


def test_unreadable_managers_of_the_live_object() -> None:
    live = _config_map({}, managedFields=[{"operation": "x"}], uid="1")
    with pytest.raises(StatusError) as caught:
        applied(_config_map(), live, CONFIG_MAPS, Clock().writer("m"))
    assert caught.value.code == 500


@pytest.mark.parametrize(
    ("replicas", "want"),
    [(2.0, 2), (99999999999, 1215752191), (2**31, -(2**31))],
)
def test_numbers_are_converted_as_go_does(replicas: float, want: int) -> None:
    config = _deployment(1)
    config["spec"]["replicas"] = replicas
    merged = applied(config, None, DEPLOYMENTS, Clock().writer("m"))
    read = read_applied(merged, DEPLOYMENTS, _context(), config)
    assert read.draft.decoded["spec"]["replicas"] == want


def test_a_number_that_go_cannot_convert() -> None:
    config = _deployment(1)
    config["spec"]["replicas"] = 2.5
    merged = applied(config, None, DEPLOYMENTS, Clock().writer("m"))
    with pytest.raises(StatusError) as caught:
        read_applied(merged, DEPLOYMENTS, _context(), config)
    assert str(caught.value) == (
        "failed to convert new object (/d; apps/v1, Kind=Deployment) to proper version: unable to "
        "convert unstructured object to apps/v1, Kind=Deployment: cannot convert float64 to int32"
    )


def _client_side(live_value: str, applied_value: str) -> Object:
    """An object that kubectl has applied by its former means, and somebody has changed since."""
    config = _config_map({"k": applied_value, "l": "1"})
    return _created(
        _config_map({"k": live_value, "l": "1"}, annotations={LAST_APPLIED: json.dumps(config)}),
        CONFIG_MAPS,
        FieldWriter("kubectl-client-side-apply", "2025-01-01T00:00:00Z"),
    )


def test_kubectl_may_change_what_it_applied_before() -> None:
    live = _client_side("1", "1")
    made = applied(_config_map({"k": "2"}), live, CONFIG_MAPS, Clock().writer("kubectl"))
    assert made["data"] == {"k": "2", "l": "1"}
    text = made["metadata"]["annotations"][LAST_APPLIED]
    assert text.endswith("}\n")
    assert json.loads(text) == _config_map({"k": "2"})
    noted = _config_map({"k": "3"}, annotations={"b": "", LAST_APPLIED: text})
    made = applied(noted, made, CONFIG_MAPS, Clock().writer("kubectl"))
    again = made["metadata"]["annotations"][LAST_APPLIED]
    assert json.loads(again) == _config_map({"k": "3"}, annotations={"b": ""})
    with pytest.raises(StatusError):
        applied(_config_map({"k": "2"}), live, CONFIG_MAPS, Clock().writer("other"))


def test_kubectl_may_not_change_what_others_changed_since() -> None:
    live = _client_side("other", "1")
    with pytest.raises(StatusError) as caught:
        applied(_config_map({"k": "2", "l": "2"}), live, CONFIG_MAPS, Clock().writer("kubectl"))
    assert str(caught.value).endswith("using v1: .data.k")


@pytest.mark.parametrize(
    "annotation",
    ["", "{", "[]", '{"apiVersion": "v2"}', '{"apiVersion": "v1", "kind": "ConfigMap", "x": 1}',
     '{"apiVersion":"v1","metadata":{"finalizers":[null]}}'],
)  # fmt: skip
def test_an_annotation_that_says_nothing(annotation: str) -> None:
    live = _client_side("1", "1")
    live["metadata"]["annotations"][LAST_APPLIED] = annotation
    with pytest.raises(StatusError):
        applied(_config_map({"k": "2"}), live, CONFIG_MAPS, Clock().writer("kubectl"))


def test_an_annotation_that_would_be_too_large_goes() -> None:
    live = _client_side("1", "1")
    config = _config_map({"k": "1", "large": "x" * MAX_ANNOTATIONS})
    made = applied(config, live, CONFIG_MAPS, Clock().writer("kubectl"))
    assert made["metadata"]["annotations"] == {}


@pytest.mark.parametrize(("more", "stays"), [(0, True), (1, False)])
def test_an_annotation_goes_where_all_take_more_than_256_kib(more: int, stays: bool) -> None:
    live = _client_side("1", "1")
    live["metadata"]["annotations"]["ä"] = "1"
    others = len("ä".encode()) + 1 + len(LAST_APPLIED)
    empty = applied(_config_map({"k": "1", "l": ""}), live, CONFIG_MAPS, Clock().writer("kubectl"))
    room = 256 * 1024 - others - len(empty["metadata"]["annotations"][LAST_APPLIED])
    config = _config_map({"k": "1", "l": "x" * (room + more)})
    made = applied(config, live, CONFIG_MAPS, Clock().writer("kubectl"))
    assert (LAST_APPLIED in made["metadata"]["annotations"]) == stays
    assert made["metadata"]["annotations"]["ä"] == "1"


AUTOSCALERS = target("autoscaling/v2/horizontalpodautoscalers", "h")
OLD_AUTOSCALERS = target("autoscaling/v1/horizontalpodautoscalers", "h")


def _autoscaler(version: str, most: int) -> Object:
    ref = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    spec: Object = {"maxReplicas": most, "scaleTargetRef": ref}
    kind, meta = "HorizontalPodAutoscaler", {"name": "h"}
    return {"apiVersion": f"autoscaling/{version}", "kind": kind, "metadata": meta, "spec": spec}


def test_managers_of_another_version_keep_theirs() -> None:
    clock = Clock()
    merged = applied(_autoscaler("v1", 3), None, OLD_AUTOSCALERS, clock.writer("m"))
    live = {**merged, "apiVersion": "autoscaling/v2"}
    live["metadata"]["uid"] = "1"
    body = _autoscaler("v2", 3)
    made = _updated(body, live, AUTOSCALERS, clock.writer("upd"))
    assert made["metadata"]["managedFields"][0]["apiVersion"] == "autoscaling/v1"
    assert _owners(made)["m Apply"]["f:spec"] == {"f:maxReplicas": {}, "f:scaleTargetRef": {}}
    body["spec"]["maxReplicas"] = 4
    made = _updated(body, made, AUTOSCALERS, clock.writer("upd"))
    assert _owners(made)["m Apply"]["f:spec"] == {"f:scaleTargetRef": {}}
    again = applied(_autoscaler("v2", 4), made, AUTOSCALERS, clock.writer("m"))
    parts: Object = {"f:apiVersion": {}, "f:kind": {}, "f:name": {}}  # not atomic in v2
    assert _owners(again)["m Apply"]["f:spec"] == {"f:maxReplicas": {}, "f:scaleTargetRef": parts}


def test_managers_of_a_version_that_is_gone_are_forgotten() -> None:
    clock = Clock()
    live = _created(_config_map({"k": "1"}), CONFIG_MAPS, clock.writer("one"))
    live["metadata"]["managedFields"][0]["apiVersion"] = "v0"
    made = _updated(_config_map({"k": "2"}), live, CONFIG_MAPS, clock.writer("two"))
    assert _owners(made) == {"two Update": {"f:data": {"f:k": {}}}}


def test_writes_that_cannot_be_compared_are_not_refused() -> None:
    clock = Clock()
    live = _created(_config_map({"k": "1"}), CONFIG_MAPS, clock.writer("one"))
    live["metadata"]["ownerReferences"] = ["no object"]
    made = read_object(json.dumps(_config_map({"k": "2"})).encode(), CONFIG_MAPS, _context())
    track_update(made.draft, made.body, live, CONFIG_MAPS, clock.writer("two"))
    assert _owners(made.draft.decoded) == {}


def _custom_target(
    subresource: str = "", *, stored: Mapping[str, Any] | None = None, **members: Any
) -> Target:
    """Objects of v1 with these members; `stored` are those of v2, in which they are kept then."""
    versions = {"v1": members} if stored is None else {"v1": members, "v2": stored}
    definition = {
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gizmos", "kind": "Gizmo"},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == max(versions),
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": _with_spec(properties)},
                }
                for name, properties in versions.items()
            ],
        }
    }
    resource = known_resources().with_crds([definition]).by_gvk(GIZMO)
    assert resource is not None
    return Target(resource, "ns", "g", subresource, custom=custom_kinds(definition)[GIZMO])


def _with_spec(members: Mapping[str, Any]) -> Object:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": members}}}


def _gizmo(spec: Any, **meta: Any) -> Object:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Gizmo",
        "metadata": {"name": "g", "namespace": "ns", **meta},
        "spec": spec,
    }


def test_an_empty_list_says_nothing_about_a_custom_resource() -> None:
    clock, where = Clock(), _custom_target(a={"type": "string"})
    live = _created(_gizmo({"a": "1"}), where, clock.writer("one"))
    made = _updated(_gizmo({"a": "1"}, managedFields=[]), live, where, clock.writer("two"))
    assert _owners(made) == _owners(live)
    made = _updated(_gizmo({"a": "1"}, managedFields=[{}]), live, where, clock.writer("two"))
    assert _owners(made) == {}


@pytest.mark.parametrize("gone", ["example.com/v1beta1", "example.com", "apps/v1", "v1"])
def test_managers_of_a_custom_resource_in_a_version_that_is_gone(gone: str) -> None:
    """As kube-apiserver 1.36 answers: applies are refused, and other writes forget all managers."""
    clock, where = Clock(), _custom_target(a={"type": "string"})
    live = _created(_gizmo({"a": "1"}), where, clock.writer("one"))
    live["metadata"]["uid"] = "1"
    live["metadata"]["managedFields"][0]["apiVersion"] = gone
    versions = Versions({GIZMO: where.custom}.get)
    for force in (False, True):
        with pytest.raises(StatusError) as refused:
            applied(_gizmo({"a": "2"}), live, where, clock.writer("two", versions), force=force)
        assert (refused.value.code, str(refused.value)) == (
            500,
            f"request to convert CR to an invalid group/version: {gone}",
        )
    made = _updated(_gizmo({"a": "2"}), live, where, clock.writer("two", versions))
    assert "managedFields" not in made["metadata"]


BYTES = {"type": "string", "format": "byte"}
"""Takes a list of numbers, too, which is no typed value."""
NEITHER_STRING = "expected string, got &value.valueUnstructured{Value:[]interface {}{1, 2}}"


def test_an_object_that_has_no_typed_value_has_no_managers() -> None:
    """As kube-apiserver 1.36 answers."""
    clock, where = Clock(), _custom_target(b=BYTES, m={"type": "string"})
    live = _created(_gizmo({"b": [1, 2]}), where, clock.writer("one"))
    assert _owners(live) == {}
    fits = _created(_gizmo({"m": "1"}), where, clock.writer("one"))
    fits["metadata"]["uid"] = live["metadata"]["uid"] = "1"
    assert _owners(_updated(_gizmo({"b": [1, 2]}), fits, where, clock.writer("two"))) == {}
    for config in (_gizmo({"m": "1"}), _gizmo({"b": [1]}), _gizmo({}, managedFields=[])):
        with pytest.raises(StatusError) as refused:
            applied(config, live, where, clock.writer("two"), force=True)
        assert (refused.value.code, str(refused.value)) == (
            500,
            "failed to create manager for existing fields: failed to convert new object (ns/g; "
            f"example.com/v1, Kind=Gizmo) to smd typed: .spec.b: {NEITHER_STRING}",
        )


def test_an_object_that_is_older_than_its_schema() -> None:
    """As kube-apiserver 1.36 answers where a definition has changed the type of a field."""
    clock, before = Clock(), _custom_target(n={"type": "string"}, m={"type": "string"})
    where = _custom_target(n={"type": "integer"}, m={"type": "string"}, b=BYTES)
    live = _created(_gizmo({"n": "1", "m": "1"}), before, clock.writer("one"))
    live["metadata"]["uid"] = "1"
    for config, code, message in (
        (
            _gizmo({"b": [1, 2]}),
            500,
            "failed to create typed patch object (ns/g; example.com/v1, Kind=Gizmo): .spec.b: "
            f"{NEITHER_STRING}",
        ),
        (
            _gizmo({"n": 1}),
            500,
            "failed to create typed live object (ns/g; example.com/v1, Kind=Gizmo): .spec.n: "
            "expected numeric (int or float), got string",
        ),
        (_gizmo({}, managedFields=[]), 400, "metadata.managedFields must be nil"),
    ):
        with pytest.raises(StatusError) as refused:
            applied(config, live, where, clock.writer("two"), force=True)
        assert (refused.value.code, str(refused.value)) == (code, message)
    assert _owners(live) != {}
    assert _owners(_updated(_gizmo({"n": "1"}), live, where, clock.writer("two"))) == {}
    assert _owners(_updated(_gizmo({"n": 1}), live, where, clock.writer("two"))) == {}
    status = _custom_target("status", n={"type": "integer"})
    assert _owners(_updated(_gizmo({"n": 1}), live, status, clock.writer("two"))) == {}


def test_nulls_that_were_applied_are_validated() -> None:
    members: dict[str, Any] = {
        "l": {"type": "array", "items": {"type": "string"}},
        "n": {"type": "string", "nullable": True},
        "d": {"type": "string", "default": "x"},
    }
    clock, where = Clock(), _custom_target("", **members)
    config = _gizmo({"l": None, "n": None, "d": None})
    merged = applied(config, None, where, clock.writer("one"), force=False)
    read = read_applied(merged, where, _context(), config)
    assert read.draft.decoded["spec"] == {"l": None, "n": None, "d": "x"}
    sent = read_object(json.dumps(config).encode(), where, _context())
    assert sent.draft.decoded["spec"] == {"n": None, "d": "x"}


@pytest.mark.parametrize(("text", "generation"), [("y", 1), ("z", 2)])
def test_an_apply_that_changes_nothing_adds_no_defaults(text: str, generation: int) -> None:
    """A field with a default is missing where the version that is stored does not have it."""
    word = {"type": "string"}
    where = _custom_target(stored={"s": word}, s=word, d={**word, "default": "x"})
    live = _created(_gizmo({"s": "y"}), where, Clock().writer("one"))
    live["metadata"]["uid"] = "1"
    made = _applied(_gizmo({"s": text}), live, where, Clock().writer("two"), force=True)
    assert (made["spec"], made["metadata"]["generation"]) == ({"s": text}, generation)


def test_what_an_apply_says_beside_the_schema_is_a_change_and_is_not_kept() -> None:
    """As kube-apiserver 1.36 answers where a schema has an object without properties."""
    clock, where = Clock(), _custom_target(o={"type": "object"})
    live = _created(_gizmo({"o": {}}), where, clock.writer("one"))
    live["metadata"]["uid"] = "1"
    made = _applied(_gizmo({"o": {"x": 1}}), live, where, clock.writer("two"))
    assert (made["spec"], made["metadata"]["generation"]) == ({"o": {}}, 2)
    assert _owners(made)["two Apply"] == {"f:spec": {"f:o": {"f:x": {}}}}


def test_a_value_of_another_type_is_a_change() -> None:
    """As kube-apiserver 1.36 answers of true instead of 1."""
    open_object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    clock, where = Clock(), _custom_target(o=open_object)
    live = _created(_gizmo({"o": {"x": 1}}), where, clock.writer("one"))
    live["metadata"]["uid"] = "1"
    made = _applied(_gizmo({"o": {"x": True}}), live, where, clock.writer("one"), force=True)
    assert (made["spec"], made["metadata"]["generation"]) == ({"o": {"x": True}}, 2)


def test_what_is_wrong_with_metadata_of_a_custom_resource_is_said_twice() -> None:
    where = _custom_target()
    new, old = _gizmo({}, uid="x"), _gizmo({}, uid="y")
    errors = write_errors(where, new, old, Surroundings())
    assert [str(one) for one in errors] == [
        'metadata.uid: Invalid value: "x": field is immutable'
    ] * 2


POLICIES = target("networking.k8s.io/v1/networkpolicies", "n")


@pytest.mark.parametrize(
    ("ingress", "owner"),
    [([{"from": []}], "two"), ([{}], "one"), ([], "nobody"), ([{"ports": [{"port": 1}]}], "two")],
)
def test_what_is_empty_in_a_list_that_is_owned_as_a_whole_counts(ingress: Any, owner: str) -> None:
    policy: Object = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "n"},
        "spec": {"podSelector": {}, "ingress": [{"from": []}]},
    }
    clock = Clock()
    live = _created(policy, POLICIES, clock.writer("one"))
    changed = {**policy, "spec": {**policy["spec"], "ingress": ingress}}
    made = _updated(changed, live, POLICIES, clock.writer("two"))
    owners = _owners(made).items()
    owns = [name.split()[0] for name, fields in owners if "f:ingress" in fields.get("f:spec", {})]
    assert owns == ([] if owner == "nobody" else [owner])
