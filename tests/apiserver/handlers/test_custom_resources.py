"""Custom resources, as kube-apiserver 1.36 answers: scales, odd members, owners in versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.kube.registry.request_bodies import unknown_scale
from celadon.kube.releases import answering_as
from tests.apiserver.asking import ask, make, read, said, warnings
from tests.apiserver.in_process import Running

GROUP = "scales.example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
HERE = f"/apis/{GROUP}/v1/namespaces/default/crews"
EVERYWHERE = f"/apis/{GROUP}/v1/fleets"


def definition(kind: str, plural: str, scope: str) -> dict[str, Any]:
    """Anything goes in two versions, with counts in `spec.size` and `status.size`."""
    version: dict[str, Any] = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        },
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
        },
    }
    spec = {
        "group": GROUP,
        "names": {"plural": plural, "kind": kind},
        "scope": scope,
        "versions": [version, {**version, "name": "v2", "storage": False}],
    }
    return {"metadata": {"name": f"{plural}.{GROUP}"}, "spec": spec}


def custom(kind: str, name: str, **members: Any) -> dict[str, Any]:
    meta = {"name": name}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": meta, **members}


def scale(replicas: int, name: str = "a") -> dict[str, Any]:
    meta = {"name": name}
    spec = {"replicas": replicas}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": meta, "spec": spec}


@pytest.fixture(scope="module")
def customs(running: Running) -> Iterator[Running]:
    make(running, DEFINITIONS, definition("Crew", "crews", "Namespaced"))
    make(running, DEFINITIONS, definition("Fleet", "fleets", "Cluster"))
    running.settle()
    make(running, HERE, custom("Crew", "a", spec={"size": 1}))
    make(running, EVERYWHERE, custom("Fleet", "a", spec={"size": 1}))
    yield running
    for plural in ("crews", "fleets"):
        ask(running, "DELETE", f"{DEFINITIONS}/{plural}.{GROUP}")


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"Kind": "Pod"}, 201),
        ({"APIVERSION": "v1"}, 201),
        ({"Kind": 5}, 400),
        ({"apiversion": "a/b/c"}, 400),
    ],
)
def test_the_kind_is_said_in_one_case_though_others_have_to_be_texts(
    customs: Running, members: dict[str, Any], code: int
) -> None:
    answer = ask(customs, "POST", f"{HERE}?dryRun=All", custom("Crew", "b", **members))
    assert answer.code == code


@pytest.mark.parametrize("path", [f"{HERE}/a", f"{EVERYWHERE}/a"])
def test_all_can_be_scaled(customs: Running, path: str) -> None:
    answer = ask(customs, "PUT", f"{path}/scale", scale(4))
    assert (answer.code, read(answer)["spec"]) == (200, {"replicas": 4})
    change = {"spec": {"replicas": 5}}
    assert ask(customs, "PATCH", f"{path}/scale", change, content_type=MERGE).code == 200
    assert read(ask(customs, "GET", path))["spec"] == {"size": 5}


def test_a_count_is_judged_where_the_object_has_it(customs: Running) -> None:
    change = {"spec": {"replicas": -1}}
    answer = ask(customs, "PATCH", f"{HERE}/a/scale", change, content_type=MERGE)
    assert said(answer) == (
        422,
        f'Crew.{GROUP} "a" is invalid: .spec.size: Invalid value: -1: should be a non-negative '
        "integer",
    )


UNKNOWN = (
    'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/'
    'apiserver/customresource_handler.go:{line}"'
)


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": 5},
        {"apiVersion": "autoscaling/v1", "kind": "Other"},
        {"apiVersion": "v1", "kind": "Pod"},
        {**scale(1), "other": 1},
    ],
)
def test_what_cannot_be_read(customs: Running, body: Any) -> None:
    answer = ask(customs, "PUT", f"{HERE}/a/scale?fieldValidation=Strict", body)
    assert said(answer) == (400, UNKNOWN.format(line=781))


@pytest.mark.parametrize(
    ("release", "line"),
    [("1.30", 719), ("1.31", 721), ("1.32", 725), ("1.33", 725), ("1.34", 730), ("1.35", 781)],
)
def test_the_place_in_the_source_of_each_release(release: str, line: int) -> None:
    with answering_as(release):
        assert str(unknown_scale()) == UNKNOWN.format(line=line)


def applied(customs: Running, name: str, replicas: int) -> tuple[int, str]:
    path = f"{HERE}/{name}/scale?fieldManager=me&force=true"
    return said(ask(customs, "PATCH", path, scale(replicas, name), content_type=APPLY))


def test_a_scale_is_not_applied_to(customs: Running) -> None:
    """Unless nothing changes: upstream converts it as if it were a custom resource."""
    make(customs, HERE, custom("Crew", "sized", spec={"size": 2}))
    make(customs, HERE, custom("Crew", "bare", spec={}))
    failed = "to proper version: request to convert CR to an invalid group/version: autoscaling/v1"
    assert applied(customs, "sized", 2) == (200, "")
    assert applied(customs, "sized", 3) == (
        500,
        f"failed to convert new object (/sized; autoscaling/v1, Kind=Scale) {failed}",
    )
    assert applied(customs, "bare", 3) == (
        500,
        "failed to create manager for existing fields: failed to convert live object "
        f"(/; autoscaling/v1, Kind=Scale) {failed}",
    )


@pytest.mark.parametrize("items", [[], [1], [{"a": 1}]])
def test_an_object_with_a_list_of_items_is_stored_and_not_shown(
    customs: Running, items: list[Any]
) -> None:
    name = f"list-{len(str(items))}"
    unlisted = "*unstructured.Unstructured is not a list: no Items field in this object"
    made = ask(customs, "POST", HERE, custom("Crew", name, items=items))
    found = ask(customs, "GET", f"{HERE}/{name}")
    for answer in (made, found):
        assert said(answer) == (500, unlisted)
    listed = read(ask(customs, "GET", HERE))["items"]
    assert [one["items"] for one in listed if one["metadata"]["name"] == name] == [items]
    assert ask(customs, "DELETE", f"{HERE}/{name}").code == 200


def test_a_map_of_items_is_nothing_special(customs: Running) -> None:
    assert ask(customs, "POST", HERE, custom("Crew", "map", items={})).code == 201


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("kind", 5, "json: cannot unmarshal number into Go struct field .kind of type string"),
        ("kind", {}, "json: cannot unmarshal object into Go struct field .kind of type string"),
        (
            "apiVersion",
            {"a": 1},
            "json: cannot unmarshal object into Go struct field .apiVersion of type string",
        ),
    ],
)
def test_a_patch_that_makes_no_text_of_what_an_object_is(
    customs: Running, field: str, value: Any, why: str
) -> None:
    answer = ask(customs, "PATCH", f"{HERE}/a", {field: value}, content_type=MERGE)
    code, message = said(answer)
    assert code == 422
    assert message.endswith(f"couldn't get version/kind; json parse error: {why}")


def test_the_owner_of_a_status_in_another_version_loses_what_a_body_lacks(
    customs: Running,
) -> None:
    """Since the main endpoint resets the status for its own version only; that of the status
    does so for all."""
    path = f"/apis/{GROUP}/{{}}/fleets/owned"
    make(customs, EVERYWHERE, custom("Fleet", "owned", spec={"a": 1}))

    def owners(version: str, below: str, **change: Any) -> list[str]:
        found = read(ask(customs, "GET", path.format(version)))
        changed = {key: value for key, value in {**found, **change}.items() if value is not None}
        answer = ask(customs, "PUT", f"{path.format(version)}{below}", changed)
        assert answer.code == 200
        entries = read(answer)["metadata"]["managedFields"]
        return [f"{one['apiVersion'][-2:]} {sorted(one['fieldsV1'])}" for one in entries]

    spec, status = "v1 ['f:spec']", "v2 ['f:status']"
    assert owners("v2", "/status", status={"b": 1}) == [spec, status]
    assert owners("v1", "/status", status={"b": 1}, spec=None) == [spec, status]
    assert owners("v1", "", status=None) == [spec]


@pytest.mark.parametrize("path", [f"{HERE}/a", f"{EVERYWHERE}/a"])
def test_a_patch_sees_the_managers_of_a_scale(customs: Running, path: str) -> None:
    ask(customs, "PATCH", f"{path}/scale", {"spec": {"replicas": 3}}, content_type=MERGE)
    wrong = {"spec": {"replicas": "x"}}
    code, message = said(ask(customs, "PATCH", f"{path}/scale", wrong, content_type=MERGE))
    assert code == 422
    assert '\\"operation\\":\\"Update\\",\\"apiVersion\\":\\"autoscaling/v1\\"' in message
    answer = ask(customs, "PATCH", f"{path}/scale", {"apiVersion": None}, content_type=MERGE)
    assert (answer.code, "managedFields" in read(answer)["metadata"]) == (200, False)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"metadata": {"name": "other"}}, 400, "the name of the object (other) does not match"),
        ({"metadata": {"namespace": "x"}}, 400, "the namespace of the provided object"),
        ({"zz": 1}, 422, "strict decoding error"),
        ({"metadata": {"resourceVersion": "1"}}, 400, 'field ".spec.size" cannot be empty'),
        ({"spec": {"replicas": -(2**31)}}, 400, 'field ".spec.size" cannot be empty'),
    ],
)
def test_a_missing_count_is_told_of_behind_a_wrong_place_and_before_the_version(
    customs: Running, body: dict[str, Any], code: int, message: str
) -> None:
    ask(customs, "POST", HERE, custom("Crew", "uncounted"))
    path = f"{HERE}/uncounted/scale?fieldValidation=Strict"
    found = said(ask(customs, "PATCH", path, body, content_type=MERGE))
    assert (found[0], message in found[1]) == (code, True)


def test_the_number_that_stands_for_no_count_is_none_in_an_update_either(
    customs: Running,
) -> None:
    answer = ask(customs, "PUT", f"{HERE}/a/scale", scale(-(2**31)))
    assert said(answer) == (400, 'the spec replicas field ".spec.size" cannot be empty')


def test_a_scale_of_a_custom_resource_is_of_any_uid(customs: Running) -> None:
    body = {"metadata": {"uid": "x"}, "spec": {"replicas": 3}}
    assert ask(customs, "PATCH", f"{HERE}/a/scale", body, content_type=MERGE).code == 200


def test_a_scale_of_a_custom_resource_has_no_version_zero(customs: Running) -> None:
    body = {"metadata": {"resourceVersion": "0"}, "spec": {"replicas": 3}}
    code, message = said(ask(customs, "PATCH", f"{HERE}/a/scale", body, content_type=MERGE))
    assert code == 422
    assert message.startswith(f'crews.{GROUP} "a" is invalid: metadata.resourceVersion: ')


@pytest.mark.parametrize("number", ["1e400", "-1e999", "1" + "0" * 309])
def test_numbers_that_no_double_is_large_enough_for(customs: Running, number: str) -> None:
    head = f'{{"apiVersion":"{GROUP}/v1","kind":"Crew","metadata":{{"name":"big"}},"x":'
    why = f"json: cannot unmarshal number {number} into Go value of type float64"
    sent = ask(customs, "POST", f"{HERE}?dryRun=All", f"{head}{number}}}".encode())
    assert said(sent) == (400, f'Crew in version "v1" cannot be handled as a Crew: {why}')
    path = f"{HERE}/a?dryRun=All&fieldValidation=Ignore"
    patched = ask(customs, "PATCH", path, f'{{"x":{number}}}'.encode(), content_type=MERGE)
    assert patched.code == 422
    assert said(patched)[1].endswith(why)


NULL_VERSION = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"


@pytest.mark.parametrize(("method", "part"), [("POST", ""), ("PUT", "/a"), ("PUT", "/a/status")])
def test_a_version_may_not_be_null(customs: Running, method: str, part: str) -> None:
    body = {"apiVersion": None, "kind": "Crew", "metadata": {"name": "a"}}
    answer = ask(customs, method, f"{HERE}{part}?dryRun=All", body)
    reason = f'Crew in version "" cannot be handled as a Crew: {NULL_VERSION}'
    assert said(answer) == (400, reason)


@pytest.mark.parametrize(
    ("meta", "code", "end"),
    [
        (1, 422, "json: cannot unmarshal number into Go value of type v1.ObjectMeta"),
        (None, 400, "was undeterminable: name must be provided"),
    ],
)
def test_without_a_version_metadata_is_read_before_the_name(
    customs: Running, meta: Any, code: int, end: str
) -> None:
    body = {"apiVersion": "", "metadata": meta}
    answer = ask(customs, "PATCH", f"{HERE}/a?dryRun=All", body, content_type=MERGE)
    found = said(answer)
    assert (found[0], found[1].endswith(end)) == (code, True)


LOST = "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"


@pytest.mark.parametrize("part", ["", "/status"])
def test_of_what_has_lost_its_version_the_metadata_is_known(customs: Running, part: str) -> None:
    def patched(body: Any, checked: str, content_type: str = MERGE) -> Any:
        path = f"{HERE}/a{part}?dryRun=All&fieldValidation={checked}"
        return ask(customs, "PATCH", path, body, content_type=content_type)

    body = {"apiVersion": None, "metadata": {"foo": 1}, "unknown": 1}
    told = 'unknown field "metadata.foo"'
    assert said(patched(body, "Ignore")) == (500, LOST)
    warned = patched(body, "Warn")
    assert (said(warned), warnings(warned)) == ((500, LOST), [told])
    code, message = said(patched(body, "Strict"))
    assert code == 422
    assert message.endswith(f"strict decoding error: {told}")
    operations = [
        {"op": "remove", "path": "/apiVersion"},
        {"op": "add", "path": "/metadata", "value": {"foo": 1}},
    ]
    code, message = said(patched(operations, "Ignore", "application/json-patch+json"))
    assert code == 400
    assert message.endswith("was undeterminable: name must be provided")


def test_a_status_of_another_kind_takes_the_managers_away(customs: Running) -> None:
    path = f"{HERE}/a/status?dryRun=All"
    kept = read(ask(customs, "PATCH", path, {"status": {}}, content_type=MERGE))
    lost = read(ask(customs, "PATCH", path, {"kind": "Other"}, content_type=MERGE))
    assert "managedFields" in kept["metadata"]
    assert "managedFields" not in lost["metadata"]
    assert lost["kind"] == "Crew"


_SCALES = 'in scheme "k8s.io/client-go/scale/util.go:146"'


@pytest.mark.parametrize(
    ("version", "kind", "end"),
    [
        ("v2", "Scale", f'no kind "Scale" is registered for version "v2" {_SCALES}'),
        ("v1", "Pod", f'no kind "Pod" is registered for version "v1" {_SCALES}'),
        ("extensions/v1beta1", "Scale", "converting (v1beta1.Scale) to (v1.Scale)"),
        ("apps/v1beta2", "WatchEvent", "converting (v1.WatchEvent) to (v1.Scale)"),
        ("v1", "APIGroup", "converting (v1.APIGroup) to (v1.Scale)"),
    ],
)
def test_another_scale_is_looked_for_among_scales(
    customs: Running, version: str, kind: str, end: str
) -> None:
    path, body = f"{HERE}/a/scale?dryRun=All", {"apiVersion": version, "kind": kind}
    code, message = said(ask(customs, "PATCH", path, body, content_type=MERGE))
    assert code == 422
    assert message.removesuffix(": unknown conversion").endswith(end)


OTHER_VERSION = "the API version in the data ({}) does not match the expected API version ({}/v1)"
UNKNOWN_FIELD = (
    'Crew in version "v3" cannot be handled as a Crew: strict decoding error: unknown field "spec"'
)
OTHER_KIND = f'Jar.{GROUP} "new" is invalid: kind: Invalid value: "Jar": must be Crew'
OTHERS: list[tuple[str, str, str, int, str, list[str]]] = [
    # A version that there is not has no fields, which is found before it is known to be another.
    (f"{GROUP}/v3", "Crew", "Strict", 400, UNKNOWN_FIELD, []),
    (f"{GROUP}/v3", "Crew", "Warn", 400, OTHER_VERSION, ['unknown field "spec"']),
    (f"{GROUP}/v2", "Crew", "Strict", 400, OTHER_VERSION, []),
    # Of another kind everything is kept, and only validation says that it is another.
    (f"{GROUP}/v1", "Jar", "Strict", 422, OTHER_KIND, []),
    ("x.io/v1", "Crew", "Strict", 400, OTHER_VERSION, []),
]


@pytest.mark.parametrize(("version", "kind", "validation", "code", "message", "warned"), OTHERS)
def test_bodies_of_other_versions_and_kinds(
    customs: Running,
    version: str,
    kind: str,
    validation: str,
    code: int,
    message: str,
    warned: list[str],
) -> None:
    body = {**custom(kind, "new"), "apiVersion": version, "spec": {"zz": 1}}
    answer = ask(customs, "POST", f"{HERE}?fieldValidation={validation}", body)
    assert (said(answer), warnings(answer)) == ((code, message.format(version, GROUP)), warned)


def test_a_put_of_another_kind_lacks_its_version_first(customs: Running) -> None:
    make(customs, HERE, custom("Crew", "puts"))
    answer = ask(customs, "PUT", f"{HERE}/puts", custom("Jar", "puts"))
    assert said(answer)[1].endswith(
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    )


@pytest.mark.parametrize(
    ("validation", "version", "message"),
    [
        ("Warn", "v2", "the object provided is unrecognized (must be of type Crew): "),
        ("Ignore", "v2", 'Crew in version "v2" cannot be handled as a Crew: '),
    ],
)
def test_a_body_without_a_kind(
    customs: Running, validation: str, version: str, message: str
) -> None:
    answer = ask(
        customs, "POST", f"{HERE}?fieldValidation={validation}", {"apiVersion": f"x/{version}"}
    )
    assert said(answer)[1].startswith(f"{message}Object 'Kind' is missing in '")


@pytest.mark.parametrize(
    ("version", "kind", "status", "managers"),
    [
        ("v2", "Crew", {"size": 3}, {"", "status"}),
        ("v3", "Crew", None, set()),
        ("v2", "Jar", {"size": 3}, set()),
    ],
)
def test_a_status_of_another_version(
    customs: Running, version: str, kind: str, status: Any, managers: set[str]
) -> None:
    name = f"{version}-{kind.lower()}"
    make(customs, HERE, {**custom("Crew", name), "spec": {"size": 1}})
    body = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "status": {"size": 3}}
    assert ask(customs, "PATCH", f"{HERE}/{name}/status", body, content_type=MERGE).code == 200
    stored = read(ask(customs, "GET", f"{HERE}/{name}"))
    entries = stored["metadata"].get("managedFields", [])
    assert {entry.get("subresource", "") for entry in entries} == managers
    assert (stored["spec"], stored.get("status")) == ({"size": 1}, status)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("Status", {"code": "x", "details": 1}),
        ("ConfigMap", {"data": 1}),
    ],
)
def test_a_body_that_names_a_built_in_kind(
    running: Running, kind: str, members: dict[str, Any]
) -> None:
    """It is read as any custom resource, whatever the kind of that name looks like."""
    plural = f"{kind.lower()}es"
    make(running, DEFINITIONS, definition(kind, plural, "Cluster"))
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "continue": 1}, **members}
    code, text = said(ask(running, "POST", f"/apis/{GROUP}/v1/{plural}", body))
    assert code == 400
    assert text.startswith("the API version in the data (v1) does not match the expected")
    body["metadata"] = {"name": "a", "labels": {"a": 1}}
    code, text = said(ask(running, "POST", f"/apis/{GROUP}/v1/{plural}", body))
    assert (code, text) == (
        400,
        f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal number into '
        "Go struct field ObjectMeta.labels of type string",
    )


@pytest.mark.parametrize("member", ["creationTimestamp", "deletionTimestamp"])
@pytest.mark.parametrize("value", [1, "x", True])
def test_applies_pass_over_times_that_are_none(customs: Running, member: str, value: Any) -> None:
    body = custom("Fleet", "timed")
    body["metadata"][member] = value
    path = f"{EVERYWHERE}/timed?fieldManager=m&dryRun=All"
    made = ask(customs, "PATCH", path, body, content_type=APPLY)
    assert made.code == 201
    assert read(made)["metadata"].get(member) != value


def test_what_an_apply_makes_of_an_embedded_resource_is_validated(running: Running) -> None:
    made = definition("Casing", "casings", "Cluster")
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    for version in made["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": embedded}}
        del version["subresources"]
    make(running, DEFINITIONS, made)
    path = f"/apis/{GROUP}/v1/casings"
    make(running, path, custom("Casing", "c", spec={"apiVersion": "v1", "kind": "Pod"}))
    spec = {"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": "x"}}
    body, query = custom("Casing", "c", spec=spec), "fieldManager=m&force=true"
    code, text = said(ask(running, "PATCH", f"{path}/c?{query}", body, content_type=APPLY))
    assert (code, text) == (
        422,
        f'Casing.{GROUP} "c" is invalid: spec.metadata: Invalid value: '
        '{"creationTimestamp":"x"}: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse '
        '"x" as "2006"',
    )


def test_defaults_of_embedded_resources_are_stored_with_the_metadata_of_their_type(
    running: Running,
) -> None:
    """The definition is judged with them, and stored as it was judged."""
    made = definition("Shell", "shells", "Cluster")
    default = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}, "odd": 1}}
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    listed = {"type": "array", "items": embedded, "default": [default]}
    spec = {
        "type": "object",
        "properties": {"one": {**embedded, "default": default}, "all": listed},
    }
    for version in made["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": spec}}
        del version["subresources"]
    make(running, DEFINITIONS, made)
    path = f"{DEFINITIONS}/shells.{GROUP}"
    stored = read(ask(running, "GET", path))
    shown = stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    kept = {**default, "metadata": {"labels": {"a": "b"}}}
    assert shown["properties"]["one"]["default"] == kept
    assert shown["properties"]["all"]["default"] == [kept]
    made["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
    sent_again = read(ask(running, "PUT", path, made))
    assert sent_again["metadata"]["generation"] == stored["metadata"]["generation"] + 1
    assert sent_again["spec"] == stored["spec"]
