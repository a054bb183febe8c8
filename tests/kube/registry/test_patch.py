"""Patches of the three plain types: what they make, and how they are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.registry.patch import (
    STRATEGIC_PATCH,
    Unversioned,
    patch_type,
    patched,
    read_patched,
    three_way_patched,
)
from celadon.kube.releases import answering_as
from celadon.kube.status import StatusError
from celadon.kube.well_known_values import JSON_PATCH, MERGE_PATCH
from tests.kube.registry.targets import target
from tests.kube.registry.test_create import BOXES

CONFIG_MAPS = target("v1/configmaps", "a")
PODS = target("v1/pods", "a")
OLD = {"apiVersion": "v1", "data": {"k": "v"}, "kind": "ConfigMap", "metadata": {"name": "a"}}
CONTEXT = DefaultingContext()


def result(patch: Any, media_type: str) -> Any:
    return patched(OLD, json.dumps(patch).encode(), media_type, CONFIG_MAPS)


@pytest.mark.parametrize(
    ("patch", "media_type"),
    [
        ({"data": {"k": None, "l": "w"}}, MERGE_PATCH),
        ({"data": {"k": None, "l": "w"}}, STRATEGIC_PATCH),
        (
            [
                {"op": "remove", "path": "/data/k"},
                {"op": "add", "path": "/data/l", "value": "w"},
            ],
            JSON_PATCH,
        ),
    ],
)
def test_applied(patch: Any, media_type: str) -> None:
    assert result(patch, media_type).document == {**OLD, "data": {"l": "w"}}
    assert OLD["data"] == {"k": "v"}


@pytest.mark.parametrize("field_validation", ["Ignore", "Warn", "Strict"])
@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b'{"data":{"k":"\xff"}}', MERGE_PATCH),
        (b'{"data":{"k":"\xff"}}', STRATEGIC_PATCH),
        (b'[{"op":"add","path":"/data/k","value":"\xff"}]', JSON_PATCH),
    ],
)
def test_bytes_that_are_no_text_are_replaced(
    body: bytes, media_type: str, field_validation: str
) -> None:
    found = patched(OLD, body, media_type, CONFIG_MAPS, field_validation)
    assert found.document == {**OLD, "data": {"k": "\ufffd"}}
    if media_type != STRATEGIC_PATCH:
        assert '"k":"\ufffd"' in found.show()


TOO_LARGE = "json: cannot unmarshal number 1e400 into"
DOUBLE = "of type float64"
REFUSED = [
    (b"", MERGE_PATCH, 400, "error decoding patch: unexpected end of JSON input"),
    (b"", STRATEGIC_PATCH, 400, "unexpected end of JSON input"),
    (
        b"[]",
        MERGE_PATCH,
        400,
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}",
    ),
    (
        b"{}",
        JSON_PATCH,
        400,
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "[]handlers.jsonPatchOp",
    ),
    (
        b'[{"op":"test","path":"/data/k","value":"w"}]',
        JSON_PATCH,
        422,
        "the server rejected our request due to an error in our request",
    ),
    (b'{"$patch":"x"}', STRATEGIC_PATCH, 500, "unknown patch type: x in map: map[$patch:x]"),
    (b'{"$retainKeys":[],"a":1}', STRATEGIC_PATCH, 400, "invalid patch format of retainKeys"),
    (b"null", MERGE_PATCH, 400, "Invalid JSON Patch"),
    (b'{"a":1e400}', MERGE_PATCH, 400, f"error decoding patch: {TOO_LARGE} Go value {DOUBLE}"),
    (
        b'{"a":[-1e400]}',
        STRATEGIC_PATCH,
        400,
        f"{TOO_LARGE.replace('1e', '-1e')} Go value {DOUBLE}",
    ),
    (
        b'[{"op":"add","path":"/a","from":"1e999","value":1e400}]',
        JSON_PATCH,
        400,
        f"error decoding patch: {TOO_LARGE} Go struct field jsonPatchOp.value {DOUBLE}",
    ),
    (
        b'[{"op":5,"path":"/a"}]',
        JSON_PATCH,
        400,
        "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op "
        "of type string",
    ),
    (
        b'[{"op":"replace","path":"","value":[]}]',
        JSON_PATCH,
        422,
        ' "" is invalid: patch: Invalid value: "[]": couldn\'t get version/kind; json parse error: '
        "json: cannot unmarshal array into Go value of type struct { APIVersion string "
        '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ),
    (
        b'{"apiVersion":null}',
        MERGE_PATCH,
        400,
        "the name of the object (a based on URL) was undeterminable: name must be provided",
    ),
    (
        b"[5]",
        JSON_PATCH,
        400,
        "error decoding patch: json: cannot unmarshal number into Go value of type "
        "handlers.jsonPatchOp",
    ),
    (
        b"5",
        STRATEGIC_PATCH,
        400,
        "json: cannot unmarshal number into Go value of type map[string]interface {}",
    ),
    (
        json.dumps([{"op": "test", "path": ""}] * 10_001).encode(),
        JSON_PATCH,
        413,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got "
        "10001",
    ),
]


@pytest.mark.parametrize(("body", "media_type", "code", "message"), REFUSED)
def test_refused(body: bytes, media_type: str, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        read_patched(patched(OLD, body, media_type, CONFIG_MAPS), CONFIG_MAPS, CONTEXT)
    assert (caught.value.code, str(caught.value)) == (code, message)


UNCHECKED = [
    (b"{", MERGE_PATCH, 400, "Invalid JSON Patch"),
    (b"5", MERGE_PATCH, 400, "Invalid JSON Patch"),
    (b"{", JSON_PATCH, 400, "unexpected end of JSON input"),
    (
        b"{}",
        JSON_PATCH,
        400,
        "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
    ),
    (
        b"[5]",
        JSON_PATCH,
        400,
        "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
    ),
    (
        b'[{"op":5,"path":"/a"}]',
        JSON_PATCH,
        422,
        "the server rejected our request due to an error in our request",
    ),
]


@pytest.mark.parametrize(("body", "media_type", "code", "message"), UNCHECKED)
def test_without_field_validation_the_library_speaks(
    body: bytes, media_type: str, code: int, message: str
) -> None:
    with pytest.raises(StatusError) as caught:
        patched(OLD, body, media_type, CONFIG_MAPS, "Ignore")
    assert (caught.value.code, str(caught.value)) == (code, message)


ROUTED = "415: Unsupported Media Type"
HANDLED = (
    "the body of the request was in an unknown format - accepted media types include: "
    "application/json-patch+json, application/merge-patch+json, "
    "application/strategic-merge-patch+json, application/apply-patch+yaml"
)


@pytest.mark.parametrize(
    ("content_type", "message"),
    [
        ("", ROUTED),
        ("text/plain", ROUTED),
        ("Application/Merge-Patch+JSON", ROUTED),
        ("application/merge-patch+json, application/json", HANDLED),
        ("application/merge-patch+json ; charset=utf-8", HANDLED),
    ],
)
def test_types_of_patches_are_taken_to_the_letter(content_type: str, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        patch_type(content_type, CONFIG_MAPS)
    assert (caught.value.code, str(caught.value)) == (415, message)


@pytest.mark.parametrize(
    ("release", "has_body", "code"),
    [("1.33", False, 406), ("1.33", True, 415), ("1.34", False, 415)],
)
def test_the_router_before_1_34_needs_a_body_to_miss_a_type(
    release: str, has_body: bool, code: int
) -> None:
    with answering_as(release), pytest.raises(StatusError) as caught:
        patch_type("text/plain", CONFIG_MAPS, has_body=has_body)
    nothing = "406: Not Acceptable\n\nAvailable representations: "
    assert (caught.value.code, str(caught.value)) == (code, nothing if code == 406 else ROUTED)


def test_a_strategic_patch_that_says_null_changes_nothing() -> None:
    found = result(None, STRATEGIC_PATCH)
    assert (found.document, found.show()) == (OLD, "map[]")
    assert result([], JSON_PATCH).document == result(None, JSON_PATCH).document == OLD


def test_parameters_of_a_type_do_not_matter() -> None:
    assert patch_type("application/merge-patch+json;charset=utf-8", CONFIG_MAPS) == MERGE_PATCH


def test_a_lost_kind_is_that_of_the_endpoint() -> None:
    found = result({"kind": None, "data": {"k": "w"}}, MERGE_PATCH)
    assert read_patched(found, CONFIG_MAPS, CONTEXT).draft.form()["data"] == {"k": "w"}


def test_members_of_operations_that_come_twice() -> None:
    body = b'[{"op":"add","op":"test","path":"/data/k","value":"v","zip":1}]'
    found = patched(OLD, body, JSON_PATCH, CONFIG_MAPS)
    assert found.complaints == (
        'json patch unknown field "[0].zip"',
        'json patch duplicate field "[0].op"',
    )


BAD_RESULTS = [
    (
        {"data": {"k": 5}},
        MERGE_PATCH,
        r'"{\"apiVersion\":\"v1\",\"data\":{\"k\":5},\"kind\":\"ConfigMap\",\"metadata\":'
        r'{\"name\":\"a\"}}": json: cannot unmarshal number into Go struct field ConfigMap.data '
        "of type string",
    ),
    ({"data": {"k": 5}}, STRATEGIC_PATCH, '"map[data:map[k:5]]": cannot convert int64 to string'),
    ({"data": "x"}, STRATEGIC_PATCH, '"map[data:x]": cannot restore map from string'),
    ({"metadata": []}, STRATEGIC_PATCH, '"map[metadata:[]]": cannot restore struct from: slice'),
    (
        {"metadata": {"finalizers": "x"}},
        STRATEGIC_PATCH,
        '"map[metadata:map[finalizers:x]]": cannot restore slice from string',
    ),
    (
        {"kind": "Secret"},
        MERGE_PATCH,
        r'"{\"apiVersion\":\"v1\",\"data\":{\"k\":\"v\"},\"kind\":\"Secret\",\"metadata\":'
        r'{\"name\":\"a\"}}": illegal base64 data at input byte 0',
    ),
    (
        {"kind": "Endpoints"},
        MERGE_PATCH,
        r'"{\"apiVersion\":\"v1\",\"data\":{\"k\":\"v\"},\"kind\":\"Endpoints\",\"metadata\":'
        r'{\"name\":\"a\"}}": converting (v1.Endpoints) to (core.ConfigMap): unknown conversion',
    ),
    (
        {"kind": "Gone"},
        MERGE_PATCH,
        r'"{\"apiVersion\":\"v1\",\"data\":{\"k\":\"v\"},\"kind\":\"Gone\",\"metadata\":'
        r'{\"name\":\"a\"}}": no kind "Gone" is registered for version "v1" in scheme '
        '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
    ),
    ({"kind": 5}, STRATEGIC_PATCH, '"map[kind:5]": cannot convert int64 to string'),
    ({"data": {"k": True}}, STRATEGIC_PATCH, '"map[data:map[k:true]]": unrecognized type: string'),
    ({"data": {"k": []}}, STRATEGIC_PATCH, '"map[data:map[k:[]]]": unrecognized type: string'),
    ({"data": {"k": 1.5}}, STRATEGIC_PATCH, '"map[data:map[k:1.5]]": unrecognized type: string'),
    (
        {"metadata": {"generation": True}},
        STRATEGIC_PATCH,
        '"map[metadata:map[generation:true]]": unrecognized type: int64',
    ),
    ({"immutable": "x"}, STRATEGIC_PATCH, '"map[immutable:x]": unrecognized type: bool'),
    (
        {"metadata": {"generation": 1.5}},
        STRATEGIC_PATCH,
        '"map[metadata:map[generation:1.5]]": cannot convert float64 to int64',
    ),
    (
        {"metadata": {"deletionTimestamp": True}},
        STRATEGIC_PATCH,
        '"map[metadata:map[deletionTimestamp:true]]": json: cannot unmarshal bool into Go value of '
        "type string",
    ),
    (
        {"binaryData": {"b": "*"}},
        STRATEGIC_PATCH,
        '"map[binaryData:map[b:*]]": error decoding from json: illegal base64 data at input byte 0',
    ),
    (
        {"binaryData": {"b": 5}},
        STRATEGIC_PATCH,
        '"map[binaryData:map[b:5]]": cannot restore slice from int64',
    ),
]


@pytest.mark.parametrize(("patch", "media_type", "why"), BAD_RESULTS)
def test_results_that_do_not_fit(patch: Any, media_type: str, why: str) -> None:
    with pytest.raises(StatusError) as caught:
        read_patched(result(patch, media_type), CONFIG_MAPS, CONTEXT)
    assert caught.value.code == 422
    assert str(caught.value) == f' "" is invalid: patch: Invalid value: {why}'


def test_field_validation() -> None:
    found = result({"zip": 1, "data": {"k": "w"}}, MERGE_PATCH)
    assert read_patched(found, CONFIG_MAPS, CONTEXT).warnings == ('unknown field "zip"',)
    assert read_patched(found, CONFIG_MAPS, CONTEXT, "Ignore").warnings == ()
    with pytest.raises(StatusError, match='strict decoding error: unknown field "zip"'):
        read_patched(found, CONFIG_MAPS, CONTEXT, "Strict")
    found = result([{"op": "test", "path": "/data/k", "value": "v", "zip": 1}], JSON_PATCH)
    noticed = ('json patch unknown field "[0].zip"',)
    assert read_patched(found, CONFIG_MAPS, CONTEXT).warnings == noticed
    with pytest.raises(StatusError, match="json patch unknown field"):
        read_patched(found, CONFIG_MAPS, CONTEXT, "Strict")


@pytest.mark.parametrize(
    ("media_type", "found"), [(STRATEGIC_PATCH, -(1 << 31)), (MERGE_PATCH, None)]
)
def test_a_strategic_merge_cuts_numbers_that_are_too_large(
    media_type: str, found: int | None
) -> None:
    old = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"priority": 0}}
    made = patched(old, b'{"spec":{"priority":2147483648}}', media_type, PODS)
    if found is None:
        with pytest.raises(StatusError, match="cannot unmarshal number 2147483648"):
            read_patched(made, PODS, CONTEXT)
        return
    read = read_patched(made, PODS, CONTEXT)
    assert read.draft.decoded["spec"]["priority"] == found


def test_a_removed_default_comes_back() -> None:
    old = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [], "restartPolicy": "Always"},
    }
    found = patched(old, b'{"spec":{"restartPolicy":null}}', MERGE_PATCH, PODS)
    made = read_patched(found, PODS, CONTEXT).draft.decoded
    assert made["spec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize("said", [{"kind": "Secret"}, {"apiVersion": "v2"}, {"kind": None}])
def test_a_strategic_merge_does_not_change_the_kind(said: Any) -> None:
    found = result({**said, "data": {"k": "w"}}, STRATEGIC_PATCH)
    made = read_patched(found, CONFIG_MAPS, CONTEXT).draft.decoded
    assert (made["apiVersion"], made["kind"], made["data"]) == ("v1", "ConfigMap", {"k": "w"})


def test_directives_that_are_left_are_unknown_fields() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "a"}]},
    }
    new = {"name": "b", "env": [{"name": "E", "$patch": "delete"}]}
    body = json.dumps({"spec": {"containers": [new]}}).encode()
    found = patched(pod, body, STRATEGIC_PATCH, PODS)
    text = 'unknown field "spec.containers[0].env[0].$patch"'
    assert read_patched(found, PODS, CONTEXT).warnings == (text,)
    with pytest.raises(StatusError) as caught:
        read_patched(found, PODS, CONTEXT, "Strict")
    assert str(caught.value) == (
        ' "" is invalid: patch: Invalid value: "map[spec:map[containers:[map[env:[map'
        f'[$patch:delete name:E]] name:b]]]]": strict decoding error: {text}'
    )


@pytest.mark.parametrize("media_type", [MERGE_PATCH, STRATEGIC_PATCH])
def test_what_a_patch_repeats_comes_before_what_the_object_does_not_have(media_type: str) -> None:
    body = b'{"data":{"k":"w"},"data":{"k":"w"},"zip":1}'
    found = patched(OLD, body, media_type, CONFIG_MAPS)
    texts = ('duplicate field "data"', 'unknown field "zip"')
    assert read_patched(found, CONFIG_MAPS, CONTEXT).warnings == texts
    assert read_patched(found, CONFIG_MAPS, CONTEXT, "Ignore").warnings == ()
    with pytest.raises(StatusError, match=f"strict decoding error: {', '.join(texts)}$"):
        read_patched(found, CONFIG_MAPS, CONTEXT, "Strict")


def test_a_refusal_shows_the_object_as_the_library_writes_it() -> None:
    """Sorted where it was looked into."""
    shown = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "labels": {}}}
    patch = b'[{"op":"add","path":"/immutable","value":"x"}]'
    with pytest.raises(StatusError) as caught:
        read_patched(patched(shown, patch, JSON_PATCH, CONFIG_MAPS), CONFIG_MAPS, CONTEXT)
    written = (
        '{"apiVersion":"v1","immutable":"x","kind":"ConfigMap","metadata":{"name":"a","labels":{}}}'
    )
    assert json.dumps(written) in str(caught.value)


SHOWN = [
    (rb'{"data":{"k":5,"x":"\u0041\/<"}}', MERGE_PATCH, rb'{"k":5,"x":"\u0041\/\u003c"}'),
    (rb'{"data":[1.50,-0,1e2,"\ud800"]}', MERGE_PATCH, rb'[1.50,-0,1e2,"\ud800"]'),
    (rb'{"data":{"k":5,"\u0061":null,"b":"x"}}', MERGE_PATCH, rb'{"b":"x","k":5}'),
    (
        rb'[{"op":"test","path":"/data/k","value":"v"},{"op":"\u0061dd","path":"/data","value":'
        rb'{"b":1.0,"\u0061":["\u0042",null]}},{"op":"copy","from":"/data/b","path":"/data/c"}]',
        JSON_PATCH,
        rb'{"a":["\u0042",null],"b":1.0,"c":1.0}',
    ),
]


@pytest.mark.parametrize(("body", "media_type", "data"), SHOWN)
def test_a_refusal_shows_scalars_as_the_patch_writes_them(
    body: bytes, media_type: str, data: bytes
) -> None:
    with pytest.raises(StatusError) as caught:
        read_patched(patched(OLD, body, media_type, CONFIG_MAPS), CONFIG_MAPS, CONTEXT)
    written = '{"apiVersion":"v1","data":%s,"kind":"ConfigMap","metadata":{"name":"a"}}'
    assert json.dumps(written % data.decode()) in str(caught.value)


def test_lists_of_lists_are_refused() -> None:
    with pytest.raises(StatusError) as caught:
        result(
            {"metadata": {"$setElementOrder/finalizers": [], "finalizers": [[1]]}}, STRATEGIC_PATCH
        )
    assert (caught.value.code, str(caught.value)) == (
        422,
        "the server rejected our request due to an error in our request",
    )


MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("apps/v1/deployments", {"spec": {"replicas": "x"}}, "unrecognized type: int32"),
    ("apps/v1/deployments", {"spec": {"replicas": 1.5}}, "cannot convert float64 to int32"),
    ("apps/v1/deployments", {"spec": {"paused": 1}}, "unrecognized type: bool"),
    ("v1/configmaps", {"binaryData": {"b": [True]}}, "unrecognized type: uint8"),
    (
        "apiextensions.k8s.io/v1/customresourcedefinitions",
        {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"maximum": "x"}}}]}},
        "unrecognized type: float64",
    ),
]


def test_without_a_version_no_field_is_known() -> None:
    made = result({"apiVersion": None}, MERGE_PATCH)
    with pytest.raises(Unversioned, match="was undeterminable") as warned:
        read_patched(made, CONFIG_MAPS, CONTEXT)
    assert warned.value.warnings == ('unknown field "data"', 'unknown field "metadata"')
    with pytest.raises(StatusError, match='unknown field "data"') as refused:
        read_patched(made, CONFIG_MAPS, CONTEXT, "Strict")
    assert refused.value.code == 422
    with pytest.raises(StatusError, match="was undeterminable") as ignored:
        read_patched(made, CONFIG_MAPS, CONTEXT, "Ignore")
    assert not isinstance(ignored.value, Unversioned)


def test_a_group_alone_is_no_version() -> None:
    made = result({"apiVersion": "a/"}, MERGE_PATCH)
    with pytest.raises(StatusError, match="Object 'apiVersion' is missing in '") as refused:
        read_patched(made, CONFIG_MAPS, CONTEXT)
    assert refused.value.code == 422


FIRST_FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"metadata": {"finalizers": "x", "labels": []}}, "cannot restore map from slice"),
    ({"spec": {"tolerations": "x", "nodeSelector": []}}, "cannot restore map from slice"),
    ({"spec": {"priority": 1.5, "containers": 5}}, "cannot restore slice from int64"),
    ({"spec": {"priority": 1.5, "overhead": []}}, "cannot convert float64 to int32"),
    ({"spec": {"priority": "x", "nodeName": {}}}, "unrecognized type: string"),
    ({"status": 5, "metadata": {"creationTimestamp": 5}}, "json: cannot unmarshal number into"),
    ({"metadata": {"creationTimestamp": 5, "name": 5}}, "cannot convert int64 to string"),
    ({"kind": 5, "spec": 5}, "cannot convert int64 to string"),
]


@pytest.mark.parametrize(("patch", "why"), FIRST_FAULTS)
def test_of_several_misfits_the_first_in_the_order_of_fields_is_told(
    patch: dict[str, Any], why: str
) -> None:
    old = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}
    with pytest.raises(StatusError) as caught:
        read_patched(patched(old, json.dumps(patch).encode(), STRATEGIC_PATCH, PODS), PODS, CONTEXT)
    assert f": {why}" in str(caught.value)


@pytest.mark.parametrize(("given", "wanted"), [(2.0, 2), (2**32 + 5, 5), (1e3, 1000)])
def test_a_strategic_merge_gives_integers_as_go_converts_them(given: float, wanted: int) -> None:
    where = target("apps/v1/deployments", "a")
    old = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}
    body = json.dumps({"spec": {"replicas": given}}).encode()
    read = read_patched(patched(old, body, STRATEGIC_PATCH, where), where, CONTEXT)
    assert read.draft.decoded["spec"]["replicas"] == wanted


@pytest.mark.parametrize(("resource", "patch", "why"), MISFITS)
def test_types_are_named_as_in_go(resource: str, patch: dict[str, Any], why: str) -> None:
    where = target(resource, "a")
    old = {"apiVersion": where.kind.api_version, "kind": where.kind.kind, "metadata": {"name": "a"}}
    body = json.dumps(patch).encode()
    with pytest.raises(StatusError) as caught:
        read_patched(patched(old, body, STRATEGIC_PATCH, where), where, CONTEXT)
    assert why in str(caught.value)


def test_a_client_side_apply_sends_the_patch_of_the_kind() -> None:
    ports = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
    live = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"ports": ports},
    }
    wanted = {**live, "spec": {"ports": [ports[0], {"port": 82, "name": "c"}]}}
    last = {**live, "spec": {"ports": ports[:1]}}
    services = target("v1/services", "a")
    merged = three_way_patched(live, last, wanted, services)
    assert merged is not None
    assert sorted(port["port"] for port in merged.document["spec"]["ports"]) == [80, 81, 82]
    assert three_way_patched(live, live, live, services) is None


BOX = {"apiVersion": "x.io/v1", "kind": "Box", "metadata": {"name": "b"}, "spec": {"size": 1}}
UNKNOWN_VERSION = (
    "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"
)
NOT_BOXES: list[tuple[bytes, str, int, str, str]] = [
    (b'{"apiVersion":null}', MERGE_PATCH, 500, "", UNKNOWN_VERSION),
    (b'{"apiVersion":""}', MERGE_PATCH, 500, "", UNKNOWN_VERSION),
    (
        b'{"kind":null}',
        MERGE_PATCH,
        422,
        '{"apiVersion":"x.io/v1","metadata":{"name":"b"},"spec":{"size":1}}',
        """Object 'Kind' is missing in '{"apiVersion":"x.io/v1","metadata":{"name":"b"},"""
        """"spec":{"size":1}}'""",
    ),
    (
        b'[{"op":"add","path":"/apiVersion","value":null}]',
        JSON_PATCH,
        422,
        '{"apiVersion":null,"kind":"Box","metadata":{"name":"b"},"spec":{"size":1}}',
        ".apiVersion accessor error: <nil> is of the type <nil>, expected string",
    ),
    (
        b'{"spec":{"size":1e400}}',
        MERGE_PATCH,
        422,
        '{"apiVersion":"x.io/v1","kind":"Box","metadata":{"name":"b"},"spec":{"size":1e400}}',
        "json: cannot unmarshal number 1e400 into Go value of type float64",
    ),
]


@pytest.mark.parametrize(("body", "media_type", "code", "shown", "reason"), NOT_BOXES)
def test_what_a_patch_may_not_make_of_a_custom_resource(
    body: bytes, media_type: str, code: int, shown: str, reason: str
) -> None:
    """Without field validation; `shown` is the object that is refused."""
    with pytest.raises(StatusError) as caught:
        read_patched(patched(BOX, body, media_type, BOXES, "Ignore"), BOXES, CONTEXT, "Ignore")
    message = f' "" is invalid: patch: Invalid value: {json.dumps(shown)}: {reason}'
    assert (caught.value.code, str(caught.value)) == (code, message if shown else reason)


def test_apply_says_why_there_is_no_patch() -> None:
    def pods_of(*containers: dict[str, str]) -> dict[str, Any]:
        return {"spec": {"template": {"spec": {"containers": [*containers]}}}}

    deployments = target("apps/v1/deployments", "d")
    with pytest.raises(StatusError) as caught:
        three_way_patched(pods_of({"image": "x"}), {}, pods_of({"image": "y"}), deployments)
    assert (caught.value.code, str(caught.value)) == (
        500,
        "map: map[image:x] does not contain declared merge key: name",
    )
