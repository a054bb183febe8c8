"""What is seen of objects that mutating policies have changed, and what of it is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.in_process import Running

POLICIES = "/apis/admissionregistration.k8s.io/v1"
THINGS = "/apis/a.io/v1/namespaces/default/things"
SEEN = (
    "object.transformMap(k, v, k != 'metadata' && k != 'apiVersion' && k != 'kind', v)"
    ", object.metadata.transformMap(k, v, k in ['generation', 'labels', 'odd'], v)"
)


def ask(running: Running, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    headers = [("authorization", "Bearer admin-token")]
    data = b"" if body is None else json.dumps(body).encode()
    answer = running.answer(HttpRequest(method, path, headers, data))
    return answer.code, json.loads(answer.body)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    started = Running()
    spec = {"x": {"type": "integer", "default": 1}, "y": {"type": "integer"}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "subresources": {
                "status": {},
                "scale": {"specReplicasPath": ".spec.x", "statusReplicasPath": ".status.x"},
            },
            "schema": {"openAPIV3Schema": schema},
        }
        for name in ("v1", "v2")
    ]
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    definition = {
        "metadata": {"name": "things.a.io"},
        "spec": {"group": "a.io", "scope": "Namespaced", "names": names, "versions": versions},
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert ask(started, "POST", definitions, definition)[0] == 201
    rule = {
        "apiGroups": ["a.io"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["things", "things/status"],
    }
    seen = {
        "matchConstraints": {"resourceRules": [{**rule, "resourceNames": ["seen"]}]},
        "validations": [
            {"expression": "false", "messageExpression": f"request.name + '%s%s'.format([{SEEN}])"}
        ],
    }
    policies = f"{POLICIES}/validatingadmissionpolicies"
    assert ask(started, "POST", policies, {"metadata": {"name": "seen"}, "spec": seen})[0] == 201
    bound = {"policyName": "seen", "validationActions": ["Deny"]}
    ask(started, "POST", f"{policies[:-3]}ybindings", {"metadata": {"name": "seen"}, "spec": bound})
    yield started
    started.close()


def mutate(running: Running, *patches: str, group: str = "a.io", resource: str = "*") -> None:
    """Let these be the patches of the one mutating policy, of one operation each."""
    rule = {"apiGroups": [group], "apiVersions": ["*"], "operations": ["*"]}
    rule["resources"] = [resource]
    expressions = [{"expression": f"[JSONPatch{{{patch}}}]"} for patch in patches]
    spec = {
        "matchConstraints": {"resourceRules": [{**rule, "operations": ["CREATE", "UPDATE"]}]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": one} for one in expressions],
        "reinvocationPolicy": "Never",
    }
    path, meta = f"{POLICIES}/mutatingadmissionpolicies", {"metadata": {"name": "m"}}
    ask(running, "DELETE", f"{path}/m")
    assert ask(running, "POST", path, {**meta, "spec": spec})[0] == 201
    ask(running, "POST", f"{path[:-3]}ybindings", {**meta, "spec": {"policyName": "m"}})
    running.settle()


def thing(name: str) -> dict[str, Any]:
    return {"apiVersion": "a.io/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {}}


@pytest.mark.parametrize(
    ("operations", "seen"),
    [
        ("op: 'add', path: '/data', value: 1", 'seen{"data":1, "spec":{"x":1}}{"generation":1}'),
        ("op: 'add', path: '/spec/zz', value: 1", 'seen{"spec":{"x":1, "zz":1}}{"generation":1}'),
        (
            "op: 'add', path: '/spec/zz', value: null",
            'seen{"spec":{"x":1, "zz":null}}{"generation":1}',
        ),
        ("op: 'add', path: '/spec/x', value: null", 'seen{"spec":{"x":1}}{"generation":1}'),
        (
            "op: 'add', path: '/apiVersion', value: 'a.io/v2'",
            'seen{"spec":{"x":1}}{"generation":1}',
        ),
        (
            "op: 'add', path: '/metadata/labels', value: {'a': 1}",
            'seen{"spec":{"x":1}}{"generation":1, "labels":{"a":1}}',
        ),
        (
            "op: 'add', path: '/metadata/odd', value: {'generation': 9}",
            'seen{"spec":{"x":1}}{"generation":1, "odd":{"generation":9}}',
        ),
        (
            "op: 'add', path: '/metadata/generation', value: '9'",
            'seen{"spec":{"x":1}}{"generation":1}',
        ),
        (
            "op: 'add', path: '/metadata/name', value: 'other'",
            'seen{"spec":{"x":1}}{"generation":1}',
        ),
    ],
)
def test_nothing_is_pruned_before_it_is_stored(
    running: Running, operations: str, seen: str
) -> None:
    mutate(running, operations)
    code, answer = ask(running, "POST", THINGS, thing("seen"))
    assert (code, answer["message"].partition("denied request: ")[2]) == (422, seen)


def test_what_a_definition_does_not_know_is_not_stored_but_counts_as_a_change(
    running: Running,
) -> None:
    mutate(running, "op: 'add', path: '/spec/zz', value: 1")
    code, made = ask(running, "POST", THINGS, thing("kept"))
    assert (code, made["spec"], made["metadata"]["generation"]) == (201, {"x": 1}, 1)
    code, changed = ask(running, "PUT", f"{THINGS}/kept", made)
    assert (code, changed["spec"], changed["metadata"]["generation"]) == (200, {"x": 1}, 2)


@pytest.mark.parametrize(
    ("patches", "code", "message"),
    [
        (["op: 'add', path: '/metadata/uid', value: 1"], 201, ""),
        (["op: 'add', path: '/metadata/namespace', value: []"], 201, ""),
        (
            ["op: 'add', path: '/metadata/generateName', value: true"],
            500,
            "json: cannot unmarshal bool into Go struct field ObjectMeta.generateName of type "
            "string",
        ),
        (
            [
                "op: 'add', path: '/metadata/labels', value: {'a': [1]}",
                "op: 'add', path: '/metadata/labels/b', value: 'c'",
            ],
            500,
            "json: cannot unmarshal array into Go struct field ObjectMeta.labels of type string",
        ),
    ],
)
def test_metadata_that_is_spoiled_is_no_metadata(
    running: Running, patches: list[str], code: int, message: str
) -> None:
    """The next patch still sees it. An object is stored without it, but not converted."""
    mutate(running, *patches)
    converted = {**thing("spoiled"), "apiVersion": "a.io/v2"}
    answer = ask(running, "POST", THINGS.replace("v1", "v2") + "?dryRun=All", converted)
    assert (answer[0], answer[1].get("message", "")) == (code, message)
    answer = ask(running, "POST", THINGS, thing("spoiled"))
    assert answer[0] == 201
    assert answer[1]["metadata"].keys().isdisjoint({"labels", "generateName"})
    ask(running, "DELETE", f"{THINGS}/spoiled")


def test_managed_fields_with_an_entry_that_is_null_are_written_but_not_seen(
    running: Running,
) -> None:
    mutate(running, "op: 'add', path: '/metadata/managedFields', value: [null]")
    code, answer = ask(running, "POST", THINGS, thing("null-entry"))
    assert (code, answer["metadata"]["managedFields"]) == (201, [{}])
    mutate(running, "op: 'add', path: '/metadata/managedFields', value: [null]", resource="*/*")
    code, answer = ask(running, "PUT", f"{THINGS}/null-entry/status", answer)
    assert (code, "managedFields" in answer["metadata"]) == (200, False)


@pytest.mark.parametrize(
    ("number", "read"),
    [("1e19", "number"), ("-1e19", "number"), ("1.5", "number"), ("'1'", "string")],
)
def test_numbers_that_no_integer_holds_are_doubles(
    running: Running, number: str, read: str
) -> None:
    mutate(running, f"op: 'add', path: '/spec/y', value: {number}")
    code, answer = ask(running, "POST", THINGS, thing("large"))
    said = f'spec.y: Invalid value: "{read}": spec.y in body must be of type integer: "{read}"'
    assert (code, said in answer["message"]) == (422, True)


def test_a_name_that_is_spoiled_is_none(running: Running) -> None:
    mutate(running, "op: 'add', path: '/metadata/name', value: {}")
    code, answer = ask(running, "POST", THINGS, thing("spoiled"))
    assert (code, answer["message"]) == (
        422,
        'Thing.a.io "" is invalid: metadata.name: Required value: name or generateName is required',
    )


@pytest.mark.parametrize(
    ("operations", "code", "message"),
    [
        (
            "op: 'add', path: '/apiVersion', value: 'a.io/v9'",
            500,
            "Internal error occurred: failed to convert object: "
            "request to convert CR from an invalid group/version: a.io/v9",
        ),
        (
            "op: 'add', path: '/spec/y', value: null",
            422,
            'Thing.a.io "refused" is invalid: spec.y: Invalid value: "null": spec.y in body must '
            'be of type integer: "null"',
        ),
    ],
)
def test_what_is_refused(running: Running, operations: str, code: int, message: str) -> None:
    mutate(running, operations)
    answer = ask(running, "POST", THINGS, thing("refused"))
    assert (answer[0], answer[1]["message"]) == (code, message)


def test_no_link_to_itself_is_stored(running: Running) -> None:
    mutate(running, "op: 'add', path: '/metadata/selfLink', value: 'x'")
    assert "selfLink" not in ask(running, "POST", THINGS, thing("linked"))[1]["metadata"]


def test_who_has_no_name_is_refused_under_the_one_that_a_mutator_gave(running: Running) -> None:
    mutate(running, "op: 'add', path: '/metadata/name', value: 'other'", "op: 'x'")
    body = {**thing(""), "metadata": {"generateName": "gen-"}}
    code, answer = ask(running, "POST", THINGS, body)
    assert (code, answer["details"]["name"]) == (403, "other")


CONTAINER = {"name": "c", "image": "i"}
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize("more", [{}, {"data": {"a": "b"}}])
def test_a_link_to_itself_is_answered_by_dry_runs_alone(more: dict[str, Any]) -> None:
    """As kube-apiserver 1.36 answers."""
    started, path = Running(), f"{MAPS}/linked"
    body = {"metadata": {"name": "linked", "selfLink": "/x"}, **more}
    try:
        assert "selfLink" not in ask(started, "POST", MAPS, body)[1]["metadata"]
        found = [ask(started, "PUT", path + dry, body)[1] for dry in ("?dryRun=All", "")]
        shown = [answer["metadata"].get("selfLink") for answer in found]
        assert shown == ["/x", None]
        assert "selfLink" not in ask(started, "GET", path)[1]["metadata"]
    finally:
        started.close()


def test_so_is_one_that_a_mutator_gave() -> None:
    """As kube-apiserver 1.36 answers."""
    started, path = Running(), f"{MAPS}/linked"
    try:
        mutate(started, "op: 'add', path: '/metadata/selfLink', value: 'x'", group="")
        body = {"metadata": {"name": "linked"}}
        for dry, link in (("?dryRun=All", "x"), ("", None)):
            made = ask(started, "POST", MAPS + dry, body)[1]
            assert made["metadata"].get("selfLink") == link
        for dry, link in (("?dryRun=All", "x"), ("", None)):
            changed = ask(started, "PUT", path + dry, {**body, "data": {"a": "b"}})[1]
            assert changed["metadata"].get("selfLink") == link
    finally:
        started.close()


def test_patches_of_built_in_kinds_read_members_in_the_order_of_gos_structs() -> None:
    started = Running()
    fields = ("name", "protocol", "port", "targetPort")
    copied = ", ".join(f'unknown field "spec.sessionAffinityConfig.{field}"' for field in fields)
    body = {
        "metadata": {"name": "s"},
        "spec": {"ports": [{"targetPort": 80, "port": 80, "name": "a"}]},
    }
    try:
        copy = "op: 'copy', from: '/spec/ports/0', path: '/spec/sessionAffinityConfig'"
        mutate(started, copy, group="", resource="services")
        refused = ask(started, "POST", "/api/v1/namespaces/default/services?dryRun=All", body)
        assert refused[0] == 500
        assert refused[1]["message"].endswith(f"strict decoding error: {copied}")
    finally:
        started.close()


@pytest.mark.parametrize("operation", ["op: 'test', path: '/a', value: 1", ""])
def test_labels_that_a_new_job_shares_with_its_pods_are_its_own_once_a_policy_was_applied(
    operation: str,
) -> None:
    started = Running()
    jobs = "/apis/batch/v1/namespaces/default/jobs?dryRun=All"
    pod = {"restartPolicy": "Never", "containers": [CONTAINER]}
    job = {
        "metadata": {"name": "j"},
        "spec": {"template": {"metadata": {"labels": {"x": "y"}}, "spec": pod}},
    }
    try:
        if operation:
            mutate(started, operation, group="batch")
        labels = ask(started, "POST", jobs, job)[1]["metadata"]["labels"]
        assert (labels == {"x": "y"}) is bool(operation)
    finally:
        started.close()


def test_an_object_is_kept_where_the_path_says(running: Running) -> None:
    mutate(running, "op: 'replace', path: '/metadata/name', value: 'other'")
    header = ("content-type", "application/apply-patch+yaml")
    path = f"{THINGS}/applied"
    sent = [("authorization", "Bearer admin-token"), header]
    data = json.dumps(thing("applied")).encode()
    made = running.answer(HttpRequest("PATCH", f"{path}?fieldManager=m", sent, data))
    assert (made.code, json.loads(made.body)["metadata"]["name"]) == (201, "other")
    assert ask(running, "GET", path)[1]["metadata"]["name"] == "other"
    assert ask(running, "GET", f"{THINGS}/other")[0] == 404
    assert ask(running, "DELETE", path)[0] == 200


DENIED = "policy 'm' with binding 'm' denied request: "
NO_SCALE = f"{DENIED}request to convert CR to an invalid group/version: autoscaling/v1"
FIVE = "op: 'replace', path: '/spec/replicas', value: 5"
ODD = "op: 'add', path: '/spec/zz', value: 'x'"


@pytest.mark.parametrize(
    ("patches", "code", "causes"),
    [
        ((FIVE,), 403, [NO_SCALE]),
        ((FIVE, ODD), 403, [NO_SCALE, NO_SCALE]),
        (("op: 'replace', path: '/spec/replicas', value: 'x'",), 403, [NO_SCALE]),
        (("op: 'replace', path: '/kind', value: 'Foo'",), 403, [NO_SCALE]),
        (
            ("op: 'replace', path: '/apiVersion', value: 'b/v1'",),
            403,
            [
                f"{DENIED}b/v1, Kind=Scale is unstructured and is not suitable for converting to "
                '"autoscaling/v1"'
            ],
        ),
        (("op: 'test', path: '/metadata/name', value: 'other'",), 200, []),
    ],
)
def test_scales_of_custom_resources_are_not_patched(
    running: Running, patches: tuple[str, ...], code: int, causes: list[str]
) -> None:
    mutate(running, "op: 'add', path: '/metadata/name', value: 'scaled'")
    assert ask(running, "POST", THINGS, thing("scaled"))[0] in (201, 409)
    scale = ask(running, "GET", f"{THINGS}/scaled/scale")[1]
    mutate(running, *patches, resource="things/scale")
    answered, answer = ask(running, "PUT", f"{THINGS}/scaled/scale", scale)
    told = [cause["message"] for cause in answer.get("details", {}).get("causes", ())]
    assert (answered, told) == (code, causes)


def test_a_scale_of_a_custom_resource_without_a_kind_is_shown_as_it_was_patched(
    running: Running,
) -> None:
    mutate(running, "op: 'add', path: '/metadata/name', value: 'shown'")
    assert ask(running, "POST", THINGS, thing("shown"))[0] == 201
    mutate(running, FIVE, "op: 'remove', path: '/kind'", resource="things/scale")
    scale = {"metadata": {"name": "shown", "namespace": "default"}, "spec": {"replicas": 2}}
    code, answer = ask(running, "PUT", f"{THINGS}/shown/scale", scale)
    begins = (
        'Internal error occurred: Object \'Kind\' is missing in \'{"apiVersion":"autoscaling/v1",'
    )
    assert (code, answer["message"][: len(begins)]) == (500, begins)


DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def make_deployment(running: Running) -> None:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}}
    spec = {"selector": {"matchLabels": labels}, "template": template, "replicas": 1}
    code, answer = ask(running, "POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
    assert code == 201, answer


@pytest.mark.parametrize(
    ("operation", "code", "text"),
    [
        ("op: 'add', path: '/metadata/namespace', value: 'other'", 200, ""),
        (
            "op: 'add', path: '/metadata/namespace', value: 'A b'",
            422,
            'namespace: Invalid value: "',
        ),
        ("op: 'remove', path: '/metadata/namespace'", 422, "metadata.namespace: Required value"),
        ("op: 'add', path: '/metadata/name', value: 'A b'", 422, 'metadata.name: Invalid value: "'),
    ],
)
def test_what_a_policy_writes_into_the_metadata_of_a_scale_is_judged_and_not_kept(
    operation: str, code: int, text: str
) -> None:
    started = Running()
    try:
        make_deployment(started)
        mutate(started, operation, group="apps", resource="deployments/scale")
        scale = {"metadata": {"name": "d"}, "spec": {"replicas": 2}}
        found, answer = ask(started, "PUT", f"{DEPLOYMENTS}/d/scale", scale)
        assert found == code, answer
        if text:
            assert answer["message"].startswith('Scale.autoscaling "d" is invalid: metadata.')
            assert text in answer["message"]
        else:
            assert answer["metadata"]["namespace"] == "default"
    finally:
        started.close()


def test_who_mutates_a_scale_sees_its_managers() -> None:
    started = Running()
    try:
        make_deployment(started)
        own = "{}.metadata.managedFields.all(m, m.apiVersion == 'autoscaling/v1')"
        seen = f"{own.format('oldObject')} && {own.format('object')} ? 7 : 8"
        mutate(
            started,
            f"op: 'replace', path: '/spec/replicas', value: {seen}",
            group="apps",
            resource="deployments/scale",
        )
        scale = {"metadata": {"name": "d"}, "spec": {"replicas": 2}}
        code, answer = ask(started, "PUT", f"{DEPLOYMENTS}/d/scale", scale)
        assert (code, answer["spec"]["replicas"]) == (200, 7)
        stored = ask(started, "GET", f"{DEPLOYMENTS}/d")[1]["metadata"]["managedFields"]
        managers = sorted((one["apiVersion"], one.get("subresource", "")) for one in stored)
        assert managers == [("apps/v1", ""), ("apps/v1", "scale")]
    finally:
        started.close()


def test_who_mutates_a_scale_that_had_no_count_sees_a_mark() -> None:
    started = Running()
    try:
        scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
        count = {"type": "object", "properties": {"n": {"type": "integer"}}}
        schema = {"type": "object", "properties": {"spec": count, "status": count}}
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "subresources": {"scale": scale},
            "schema": {"openAPIV3Schema": schema},
        }
        names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
        spec = {"group": "a.io", "scope": "Namespaced", "names": names, "versions": [version]}
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        made = ask(
            started, "POST", definitions, {"metadata": {"name": "things.a.io"}, "spec": spec}
        )
        assert made[0] == 201
        assert ask(started, "POST", THINGS, thing("a"))[0] == 201
        name = "oldObject.spec.replicas == -2147483648 ? 'a' : 'other'"
        holds = f"op: 'test', path: '/metadata/name', value: {name}"
        mutate(started, holds, resource="things/scale")
        body = {"metadata": {"name": "a"}, "spec": {"replicas": 2}}
        code, answer = ask(started, "PUT", f"{THINGS}/a/scale", body)
        assert (code, answer["details"]["causes"][0]["message"]) == (403, NO_SCALE)
    finally:
        started.close()


@pytest.mark.parametrize(
    ("field", "stored"),
    [
        ("set: []", {}),
        ("nullable: []", {"nullable": None}),
        ("filled: []", {"filled": ["a"]}),
        ("unknown: []", {"unknown": None}),
        ("unknown: object.spec.sent", {"unknown": []}),
        ("items: [Object.spec.items{name: 'a', set: []}]", {"items": [{"name": "a"}]}),
    ],
)
def test_an_empty_list_that_an_expression_makes_is_null_in_the_store(
    running: Running, field: str, stored: dict[str, Any]
) -> None:
    """Which keeps it where the schema allows it, and where there is none."""
    listed = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}
    properties = {"name": {"type": "string"}, "set": listed}
    item = {"type": "object", "required": ["name"], "properties": properties}
    keyed = {"type": "array", "items": item, "x-kubernetes-list-type": "map"}
    spec = {
        "set": listed,
        "nullable": {**listed, "nullable": True},
        "filled": {**listed, "default": ["a"]},
        "items": {**keyed, "x-kubernetes-list-map-keys": ["name"]},
    }
    schema = {"type": "object", "properties": spec, "x-kubernetes-preserve-unknown-fields": True}
    made = {
        "metadata": {"name": "lists.b.io"},
        "spec": {
            "group": "b.io",
            "scope": "Namespaced",
            "names": {
                "plural": "lists",
                "singular": "list",
                "kind": "Lists",
                "listKind": "ListsList",
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}
                    },
                }
            ],
        },
    }
    ask(running, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", made)
    rule = {
        "apiGroups": ["b.io"],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["*"],
    }
    configured = {"expression": f"Object{{spec: Object.spec{{{field}}}}}"}
    policy = {
        "matchConstraints": {"resourceRules": [rule]},
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": configured}],
        "reinvocationPolicy": "Never",
    }
    path, meta = f"{POLICIES}/mutatingadmissionpolicies", {"metadata": {"name": "m"}}
    ask(running, "DELETE", f"{path}/m")
    assert ask(running, "POST", path, {**meta, "spec": policy})[0] == 201
    ask(running, "POST", f"{path[:-3]}ybindings", {**meta, "spec": {"policyName": "m"}})
    running.settle()
    lists = "/apis/b.io/v1/namespaces/default/lists"
    body = {
        "apiVersion": "b.io/v1",
        "kind": "Lists",
        "metadata": {"name": "l"},
        "spec": {"sent": []},
    }
    code, answer = ask(running, "POST", lists, body)
    assert (code, answer["spec"]) == (201, {"filled": ["a"], "sent": [], **stored})
    assert ask(running, "DELETE", f"{lists}/l")[1]["status"] == "Success"
