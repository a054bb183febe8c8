"""Writes around the store: lost races, generated names, dry runs, preconditions, dependents."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from celadon.apiserver.handlers import write
from celadon.apiserver.handlers.write import NAME_ATTEMPTS
from celadon.apiserver.server_core import Sources
from tests.apiserver.asking import ask, make, read, said, warnings
from tests.apiserver.handlers.races import NAME, claim_race, race
from tests.apiserver.in_process import Running

HERE = "/api/v1/namespaces/may-not-create"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/may-not-create"


@pytest.fixture(scope="module")
def alice(running: Running) -> Running:
    """May change what there is."""
    make(running, "/api/v1/namespaces", {"metadata": {"name": "may-not-create"}})
    rule = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "update", "patch"]}
    make(running, f"{ROLES}/roles", {"metadata": {"name": "r"}, "rules": [rule]})
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    make(running, f"{ROLES}/rolebindings", binding)
    return running


CREATING: list[tuple[str, str, dict[str, Any], str, str]] = [
    (
        "PATCH",
        f"{HERE}/configmaps/a?fieldManager=m",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        "application/apply-patch+yaml",
        'configmaps "a" is forbidden: User "alice" cannot create resource "configmaps" in API '
        'group "" in the namespace "may-not-create"',
    ),
    (
        "PUT",
        f"{HERE}/limitranges/a",
        {"metadata": {"name": "a"}, "spec": {"limits": []}},
        "application/json",
        'limitranges "a" is forbidden: User "alice" cannot create resource "limitranges" in API '
        'group "" in the namespace "may-not-create"',
    ),
]


@pytest.mark.parametrize(("method", "path", "body", "content_type", "message"), CREATING)
def test_an_update_that_creates_has_to_be_allowed_as_a_create(
    alice: Running, method: str, path: str, body: Any, content_type: str, message: str
) -> None:
    refused = ask(alice, method, path, body, token="alice-token", content_type=content_type)
    assert said(refused) == (403, message)
    assert ask(alice, method, path, body, content_type=content_type).code == 201
    changed = {**body, "metadata": {"name": "a", "labels": {"x": "1"}}}
    again = ask(alice, method, path, changed, token="alice-token", content_type=content_type)
    assert again.code == 200


def _gauges() -> dict[str, Any]:
    """A definition whose v1 is stored, with fields of its own."""
    text = {"type": "string"}
    fields = {
        "v1": {"a": text, "kept": {**text, "default": "by v1"}},
        "v2": {"a": text, "b": text, "kept": text, "mine": {**text, "default": "by v2"}},
    }
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": spec}},
                }
            },
        }
        for name, spec in fields.items()
    ]
    names = {"plural": "gauges", "singular": "gauge", "kind": "Gauge", "listKind": "GaugeList"}
    spec = {"group": "stored.io", "names": names, "scope": "Cluster", "versions": versions}
    return {"metadata": {"name": "gauges.stored.io"}, "spec": spec}


def test_a_custom_resource_is_what_the_stored_version_keeps_of_it(running: Running) -> None:
    make(running, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _gauges())
    running.settle()
    first, second = "/apis/stored.io/v1/gauges", "/apis/stored.io/v2/gauges"
    body = {
        "apiVersion": "stored.io/v2",
        "kind": "Gauge",
        "metadata": {"name": "g"},
        "spec": {"a": "x", "b": "y"},
    }
    left = {"a": "x", "kept": "by v1"}
    tried = read(ask(running, "POST", f"{second}?dryRun=All", body))
    made = read(ask(running, "POST", second, body))
    assert (tried["apiVersion"], tried["spec"]) == ("stored.io/v2", left)
    assert (made["apiVersion"], made["spec"]) == ("stored.io/v2", left)
    shown = read(ask(running, "GET", f"{first}/g"))
    assert (shown["apiVersion"], shown["spec"]) == ("stored.io/v1", left)
    change = {"spec": {"b": "z", "kept": "w"}}
    for query in ("?dryRun=All", ""):
        merge = "application/merge-patch+json"
        path = f"{second}/g{query}"
        changed = read(ask(running, "PATCH", path, change, content_type=merge))
        assert changed["spec"] == {"a": "x", "kept": "w"}
    found = read(ask(running, "GET", first))["items"]
    assert [(one["apiVersion"], one["spec"]) for one in found] == [
        ("stored.io/v1", {"a": "x", "kept": "w"})
    ]
    other = {**body, "apiVersion": "stored.io/v1", "metadata": {"name": "h"}, "spec": {}}
    make(running, first, other)
    assert read(ask(running, "GET", f"{second}/h"))["spec"] == {"kept": "by v1"}


def test_a_refused_patch_prints_members_in_the_order_of_gos_structs(running: Running) -> None:
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    deployment = {
        "metadata": {"name": "printed"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template},
    }
    path = "/apis/apps/v1/namespaces/default/deployments"
    make(running, path, deployment)
    patch = [{"op": "replace", "path": "/spec/replicas", "value": "x"}]
    refused = ask(
        running, "PATCH", f"{path}/printed", patch, content_type="application/json-patch+json"
    )
    code, message = said(refused)
    assert code == 422
    assert r"\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"IfNotPresent\"" in message


# --- lost races ---

SPACE = "/api/v1/namespaces/races"
MAPS = f"{SPACE}/configmaps"
RACED = f"{MAPS}/{NAME}"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


@pytest.fixture(scope="module")
def races(running: Running) -> Running:
    """With a policy that warns about changes of what is in the state `old`."""
    make(running, "/api/v1/namespaces", {"metadata": {"name": "races"}})
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
        "operations": ["UPDATE", "DELETE"],
        "resourceNames": [NAME],
    }
    policy = {
        "metadata": {"name": "races"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [
                {"expression": "oldObject.data.state != 'old'", "message": "it is old"}
            ],
        },
    }
    binding = {
        "metadata": {"name": "races"},
        "spec": {"policyName": "races", "validationActions": ["Warn"]},
    }
    group = "/apis/admissionregistration.k8s.io/v1"
    make(running, f"{group}/validatingadmissionpolicies", policy)
    make(running, f"{group}/validatingadmissionpolicybindings", binding)
    return running


@pytest.fixture
def raced(races: Running) -> Any:
    """The object, which is removed in the end."""
    body = {"metadata": {"name": NAME}, "data": {"state": "old", "mine": "1"}}
    yield make(races, MAPS, body)
    ask(races, "PATCH", RACED, {"metadata": {"finalizers": None}}, content_type=MERGE)
    ask(races, "DELETE", RACED)


def _to_new(obj: dict[str, Any]) -> None:
    obj["data"] = {**obj["data"], "state": "new", "theirs": "2"}


CHANGES: list[tuple[str, Any, str, dict[str, str]]] = [
    ("PUT", {"metadata": {"name": NAME}, "data": {"a": "b"}}, "application/json", {"a": "b"}),
    (
        "PATCH",
        {"data": {"mine": "3"}},
        MERGE,
        {"state": "new", "mine": "3", "theirs": "2"},
    ),
    (
        "PATCH",
        [{"op": "replace", "path": "/data/mine", "value": "3"}],
        "application/json-patch+json",
        {"state": "new", "mine": "3", "theirs": "2"},
    ),
    (
        "PATCH",
        {"data": {"mine": None}},
        "application/strategic-merge-patch+json",
        {"state": "new", "theirs": "2"},
    ),
    (
        "PATCH",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"x": "y"}},
        APPLY,
        {"state": "new", "mine": "1", "theirs": "2", "x": "y"},
    ),
]


@pytest.mark.parametrize(("method", "body", "content_type", "data"), CHANGES)
def test_a_change_that_loses_a_race_begins_again_with_what_is_there_then(
    races: Running,
    raced: Any,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    body: Any,
    content_type: str,
    data: dict[str, str],
) -> None:
    lost = race(monkeypatch, _to_new, losses=3)
    path = f"{RACED}?fieldManager=m" if content_type == APPLY else RACED
    answer = ask(races, method, path, body, content_type=content_type)
    assert (answer.code, lost.attempts) == (200, 4)
    assert read(answer)["data"] == data
    assert read(ask(races, "GET", RACED))["data"] == data
    assert warnings(answer) == []


def test_what_the_attempt_that_counts_warns_of_is_said(races: Running, raced: Any) -> None:
    answer = ask(races, "PATCH", RACED, {"data": {"mine": "3"}}, content_type=MERGE)
    (warning,) = warnings(answer)
    assert warning.endswith("it is old")


def test_warnings_about_the_body_are_said_once_whatever_is_lost(
    races: Running, raced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    race(monkeypatch, _to_new)
    body = {"metadata": {"name": NAME}, "data": {}, "zap": 1}
    assert warnings(ask(races, "PUT", RACED, body)) == ['unknown field "zap"']


def test_an_update_of_one_version_loses_once(
    races: Running, raced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = race(monkeypatch, _to_new, losses=3)
    body = {"metadata": raced["metadata"], "data": {"a": "b"}}
    code, message = said(ask(races, "PUT", RACED, body))
    assert (code, lost.attempts) == (409, 1)
    assert "the object has been modified; please apply your changes" in message


def test_a_deletion_that_loses_a_race_begins_again(
    races: Running, raced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = race(monkeypatch, _to_new, losses=2)
    answer = ask(races, "DELETE", RACED)
    assert (answer.code, lost.attempts, warnings(answer)) == (200, 3, [])
    assert ask(races, "GET", RACED).code == 404


def test_a_pod_that_is_to_go_at_once_goes_whoever_writes_to_it(
    races: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is marked before it is removed; in between its status may change, as by an eviction."""
    account = {"metadata": {"name": "default"}}
    ask(races, "POST", f"{SPACE}/serviceaccounts", account)
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    make(races, f"{SPACE}/pods", {"metadata": {"name": NAME}, "spec": spec})
    lost = race(monkeypatch, lambda _: None, losses=2, spared=1)
    answer = ask(races, "DELETE", f"{SPACE}/pods/{NAME}", {"gracePeriodSeconds": 0})
    assert (answer.code, lost.attempts) == (200, 4)
    assert ask(races, "GET", f"{SPACE}/pods/{NAME}").code == 404


def test_a_deletion_of_one_version_loses_once(
    races: Running, raced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = race(monkeypatch, _to_new)
    version = raced["metadata"]["resourceVersion"]
    code, message = said(
        ask(races, "DELETE", RACED, {"preconditions": {"resourceVersion": version}})
    )
    assert (code, lost.attempts) == (409, 1)
    assert f"the ResourceVersion in the precondition ({version}) does not match" in message


def test_an_update_that_ends_an_object_may_lose_a_race_too(
    races: Running, raced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = {"metadata": {"finalizers": ["a/b"]}}
    ask(races, "PATCH", RACED, held, content_type=MERGE)
    ask(races, "DELETE", RACED)
    lost = race(monkeypatch, _to_new)
    free = {"metadata": {"finalizers": None}}
    answer = ask(races, "PATCH", RACED, free, content_type=MERGE)
    assert (answer.code, lost.attempts) == (200, 2)
    assert read(answer)["data"]["theirs"] == "2"
    assert ask(races, "GET", RACED).code == 404


def test_a_service_whose_address_somebody_else_got_gets_another_one(
    races: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = claim_race(monkeypatch, losses=2)
    body = {"metadata": {"name": NAME}, "spec": {"ports": [{"port": 80}]}}
    assert read(ask(races, "POST", f"{SPACE}/services", body))["spec"]["clusterIP"]
    assert lost.attempts == 3
    assert ask(races, "DELETE", f"{SPACE}/services/{NAME}").code == 200


# --- generated names ---


def _suffixes(running: Running, monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    running.settle()
    left = iter(texts)
    monkeypatch.setattr(type(running.server.core.sources), "suffix", lambda _: next(left))


def test_another_name_is_generated_when_one_is_taken(
    races: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for suffix in ("aaaaa", "bbbbb"):
        make(races, MAPS, {"metadata": {"name": f"gen-{suffix}"}})
    _suffixes(races, monkeypatch, "aaaaa", "bbbbb", "ccccc")
    body = {"metadata": {"generateName": "gen-"}, "zap": 1}
    answer = ask(races, "POST", MAPS, body)
    assert (answer.code, read(answer)["metadata"]["name"]) == (201, "gen-ccccc")
    assert warnings(answer) == ['unknown field "zap"']


def test_names_are_generated_until_so_many_were_taken(
    races: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(races, MAPS, {"metadata": {"name": "gone-aaaaa"}})
    _suffixes(races, monkeypatch, *["aaaaa"] * NAME_ATTEMPTS)
    code, message = said(ask(races, "POST", MAPS, {"metadata": {"generateName": "gone-"}}))
    assert code == 409
    assert message == (
        'configmaps "gone-aaaaa" already exists, the server was not able to generate a unique name '
        "for the object"
    )


def test_a_name_that_was_given_is_tried_once(races: Running) -> None:
    body = {"metadata": {"name": "once", "generateName": "gen-"}}
    make(races, MAPS, body)
    message = 'configmaps "once" already exists, the server was not able to generate a unique name '
    assert said(ask(races, "POST", MAPS, body)) == (409, f"{message}for the object")


def test_of_an_object_that_is_being_deleted_a_create_says_so(races: Running) -> None:
    body = {"metadata": {"name": "going", "finalizers": ["a/b"]}}
    make(races, MAPS, body)
    ask(races, "DELETE", f"{MAPS}/going")
    code, message = said(ask(races, "POST", MAPS, body))
    assert (code, message) == (409, 'object is being deleted: configmaps "going" already exists')


# --- dry runs ---

DRY: list[tuple[str, str, Any, str, int]] = [
    ("POST", MAPS, {"metadata": {"name": "dry-new"}}, "application/json", 201),
    ("POST", MAPS, {"metadata": {"name": "dry"}}, "application/json", 409),
    ("PUT", f"{MAPS}/dry", {"metadata": {"name": "dry"}}, "application/json", 200),
    ("PATCH", f"{MAPS}/dry", {"data": {"a": "2"}}, MERGE, 200),
    (
        "PATCH",
        f"{MAPS}/dry",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dry"}},
        APPLY,
        200,
    ),
    (
        "PATCH",
        f"{MAPS}/dry-new",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dry-new"}},
        APPLY,
        201,
    ),
    ("DELETE", f"{MAPS}/dry", None, "application/json", 200),
    ("DELETE", f"{MAPS}/dry-held", None, "application/json", 200),
    ("PATCH", f"{MAPS}/dry-going", {"metadata": {"finalizers": None}}, MERGE, 200),
]


@pytest.fixture(scope="module")
def dry(races: Running) -> Running:
    """With an object, one that a finalizer holds, and one that is being deleted."""
    make(races, MAPS, {"metadata": {"name": "dry"}, "data": {"a": "1"}})
    for name in ("dry-held", "dry-going"):
        make(races, MAPS, {"metadata": {"name": name, "finalizers": ["a/b"]}})
    ask(races, "DELETE", f"{MAPS}/dry-going")
    return races


@pytest.mark.parametrize(("method", "path", "body", "content_type", "code"), DRY)
def test_a_dry_run_changes_nothing(
    dry: Running, method: str, path: str, body: Any, content_type: str, code: int
) -> None:
    for _ in range(5):  # what the server does by itself may come in between once, not each time
        before = read(ask(dry, "GET", MAPS))
        query = "?dryRun=All&fieldManager=m"
        assert ask(dry, method, path + query, body, content_type=content_type).code == code
        after = read(ask(dry, "GET", MAPS))
        assert after["items"] == before["items"]
        if after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]:
            return
    pytest.fail("each time something was written")


def test_a_dry_run_answers_with_the_version_that_was_sent(dry: Running) -> None:
    new = {"metadata": {"name": "versioned", "resourceVersion": "7"}}
    answer = ask(dry, "POST", f"{MAPS}?dryRun=All", new)
    assert (answer.code, read(answer)["metadata"]["resourceVersion"]) == (201, "7")


def test_what_becomes_of_annotations_is_told_of_a_pod_that_is_refused(dry: Running) -> None:
    note = "container.apparmor.security.beta.kubernetes.io/c"
    meta = {"name": "noted", "annotations": {note: "bad-name"}}
    pod = {"metadata": meta, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    refused = ask(dry, "POST", f"{SPACE}/pods", pod)
    assert refused.code == 422
    (told,) = warnings(refused)
    assert told.startswith(f"metadata.annotations[{note}]: deprecated since v1.30")


@pytest.mark.parametrize(("namespace", "code", "is_warned"), [("", 422, True), ("x", 400, False)])
def test_repeated_owners_are_told_of_once_a_new_object_is_in_its_namespace(
    dry: Running, namespace: str, code: int, *, is_warned: bool
) -> None:
    meta = {"name": "owned", "namespace": namespace, "ownerReferences": [{}, {}]}
    refused = ask(dry, "POST", MAPS, {"metadata": meta})
    assert (refused.code, bool(warnings(refused))) == (code, is_warned)


# --- preconditions ---

NO_SUCH = "00000000-0000-0000-0000-000000000000"
PRECONDITIONS: list[tuple[str, str, Any, int, str]] = [
    ("PUT", "kept", {"metadata": {"name": "kept", "resourceVersion": "1"}}, 409, "modified"),
    ("PUT", "kept", {"metadata": {"name": "kept", "resourceVersion": "x"}}, 500, "ParseUint"),
    ("PUT", "kept", {"metadata": {"name": "kept", "uid": NO_SUCH}}, 409, "UID in precondition"),
    ("PUT", "kept", {"metadata": {"name": "other"}}, 400, "does not match the name on the URL"),
    ("PUT", "none", {"metadata": {"name": "none"}}, 404, "not found"),
    ("POST", "", {"metadata": {"name": "new", "resourceVersion": "1"}}, 500, "should not be set"),
    ("POST", "", {"metadata": {"name": "new", "namespace": "x"}}, 400, "does not match the names"),
    ("DELETE", "kept", {"preconditions": {"uid": NO_SUCH}}, 409, "UID in the precondition"),
    ("DELETE", "kept", {"preconditions": {"resourceVersion": "1"}}, 409, "ResourceVersion in the"),
    ("DELETE", "none", {}, 404, "not found"),
]


@pytest.mark.parametrize(("method", "name", "body", "code", "message"), PRECONDITIONS)
def test_writes_about_another_object_or_state_are_refused(
    races: Running, method: str, name: str, body: Any, code: int, message: str
) -> None:
    kept = f"{MAPS}/kept"
    ask(races, "POST", MAPS, {"metadata": {"name": "kept"}, "data": {"a": "b"}})
    before = read(ask(races, "GET", kept))
    found, text = said(ask(races, method, f"{MAPS}/{name}" if name else MAPS, body))
    assert found == code
    assert message in text
    assert read(ask(races, "GET", kept)) == before
    assert ask(races, "GET", f"{MAPS}/new").code == 404


@pytest.mark.parametrize(
    ("finalizers", "members", "code"),
    [
        (["orphan"], {}, 409),
        (["orphan"], {"dryRun": ["All"]}, 200),
        (["e.com/a"], {}, 200),
        ([], {}, 200),
    ],
)
def test_a_version_that_is_right_is_lost_with_the_last_finalizer_that_the_options_take(
    races: Running, finalizers: list[str], members: dict[str, Any], code: int
) -> None:
    made = make(races, MAPS, {"metadata": {"name": "held", "finalizers": finalizers}})["metadata"]
    expected = {"preconditions": {"resourceVersion": made["resourceVersion"]}, **members}
    options = {"propagationPolicy": "Background", **expected}
    found, text = said(ask(races, "DELETE", f"{MAPS}/held", options))
    ask(races, "PATCH", f"{MAPS}/held", {"metadata": {"finalizers": None}}, content_type=MERGE)
    ask(races, "DELETE", f"{MAPS}/held")
    told = "ResourceVersion in precondition: , ResourceVersion in object meta: "
    assert (found, told in text) == (code, code == 409)


# --- dependents ---

DEPENDENTS: list[tuple[list[str], dict[str, Any], int, list[str] | None]] = [
    ([], {}, 200, None),
    ([], {"propagationPolicy": "Background"}, 200, None),
    ([], {"orphanDependents": False}, 200, None),
    (["a/b"], {"propagationPolicy": "Background"}, 200, ["a/b"]),
    (["a/b"], {"orphanDependents": False}, 202, ["a/b"]),
    (["a/b"], {"propagationPolicy": "Orphan"}, 200, ["a/b", "orphan"]),
    (["a/b"], {"orphanDependents": True}, 200, ["a/b", "orphan"]),
    (["a/b"], {"propagationPolicy": "Foreground"}, 200, ["a/b", "foregroundDeletion"]),
    (["a/b", "orphan"], {"propagationPolicy": "Foreground"}, 200, ["a/b", "foregroundDeletion"]),
    (["a/b", "orphan"], {"propagationPolicy": "Background"}, 200, ["a/b"]),
    (["orphan"], {"orphanDependents": False}, 200, None),
]


@pytest.mark.parametrize(("finalizers", "options", "code", "left"), DEPENDENTS)
def test_what_a_deletion_says_of_dependents_becomes_finalizers(
    races: Running,
    finalizers: list[str],
    options: dict[str, Any],
    code: int,
    left: list[str] | None,
) -> None:
    path = f"{MAPS}/owner"
    make(races, MAPS, {"metadata": {"name": "owner", "finalizers": finalizers}})
    answer = ask(races, "DELETE", path, options)
    assert answer.code == code
    if left is None:
        assert read(answer)["status"] == "Success"
    else:
        meta = read(answer)["metadata"]
        assert sorted(meta["finalizers"]) == sorted(left)
        assert meta["deletionTimestamp"]
        assert meta["deletionGracePeriodSeconds"] == 0
        again = read(ask(races, "DELETE", path))["metadata"]
        assert again["deletionTimestamp"] == meta["deletionTimestamp"]
        added = {"metadata": {"finalizers": ["c/d", *meta["finalizers"]]}}
        assert said(ask(races, "PATCH", path, added, content_type=MERGE))[0] == 422
        ask(races, "PATCH", path, {"metadata": {"finalizers": None}}, content_type=MERGE)
    assert ask(races, "GET", path).code == 404


SCALED = "/apis/apps/v1/namespaces/scaled/deployments/d/scale"


@pytest.fixture(scope="module")
def scaled(running: Running) -> Running:
    make(running, "/api/v1/namespaces", {"metadata": {"name": "scaled"}})
    spread = {"maxSkew": 1, "topologyKey": "x", "whenUnsatisfiable": "DoNotSchedule"}
    spec = {
        "topologySpreadConstraints": [spread],
        "containers": [{"name": "a", "image": "b"}],
    }
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    body = {"selector": {"matchLabels": labels}, "template": template}
    make(running, SCALED.removesuffix("/d/scale"), {"metadata": {"name": "d"}, "spec": body})
    return running


def test_a_scale_warns_of_the_object_that_it_belongs_to(scaled: Running) -> None:
    answer = ask(scaled, "PATCH", SCALED, {"spec": {"replicas": 2}}, content_type=MERGE)
    assert warnings(answer) == [
        "spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector "
        "results in matching no pod"
    ]


@pytest.mark.parametrize(
    ("meta", "replicas", "code", "part"),
    [
        ({"uid": "x"}, 1, 409, 'deployments/scale.apps "d": Precondition failed: UID in precond'),
        ({"uid": "x", "resourceVersion": "1"}, 1, 409, "Precondition failed"),
        ({"uid": "x", "resourceVersion": "1"}, -1, 422, "must be greater than or equal to 0"),
        ({"resourceVersion": "1"}, 1, 409, "the object has been modified"),
    ],
)
def test_in_which_order_a_scale_is_refused(
    scaled: Running, meta: dict[str, Any], replicas: int, code: int, part: str
) -> None:
    body = {"metadata": meta, "spec": {"replicas": replicas}}
    found, message = said(ask(scaled, "PATCH", SCALED, body, content_type=MERGE))
    assert found == code
    assert part in message


@pytest.mark.parametrize(
    ("meta", "field"),
    [
        ({"finalizers": ["a"]}, "metadata.finalizers[0]"),
        ({"labels": {"a": "b c"}}, "metadata.labels"),
        ({"generateName": "G_"}, "metadata.generateName"),
        ({"generation": -1}, "metadata.generation"),
    ],
)
def test_the_metadata_of_a_scale_is_judged_and_not_kept(
    scaled: Running, meta: dict[str, Any], field: str
) -> None:
    code, message = said(ask(scaled, "PATCH", SCALED, {"metadata": meta}, content_type=MERGE))
    assert code == 422
    assert message.startswith(f'Scale.autoscaling "d" is invalid: {field}: ')
    sound = {"metadata": {"labels": {"a": "b"}, "finalizers": ["e.com/a"]}}
    answer = ask(scaled, "PATCH", SCALED, sound, content_type=MERGE)
    assert (answer.code, {"labels", "finalizers"} & {*read(answer)["metadata"]}) == (200, set())


_TEMPLATE = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "E", "value": "1"}]}]},
}
PATCHES: list[tuple[str, str, Any]] = [
    ("", "merge-patch", {"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 3}}),
    ("", "strategic-merge-patch", {"spec": {"template": {"spec": {"hostNetwork": True}}}}),
    ("/status", "merge-patch", {"status": {"replicas": 3, "observedGeneration": 2}}),
    ("", "merge-patch", {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}),
    (
        "",
        "strategic-merge-patch",
        {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}},
    ),
    ("", "json-patch", [{"op": "remove", "path": "/spec/template/spec/containers/0/env"}]),
    ("", "merge-patch", {"spec": {"template": {"spec": {"hostNetwork": None}}}}),
    ("", "merge-patch", {"spec": {"template": {"spec": {"volumes": []}}}}),
]


def test_patches_past_what_is_known_to_read_back_give_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At one time, for managers are in the order of theirs."""
    now = datetime.now(UTC)
    running = Running(sources=Sources(now=lambda: now))
    known = _patched(running, "known")
    monkeypatch.setattr(write, "_reads_back", lambda *_: False)
    assert known == _patched(running, "other")
    running.close()


def _patched(running: Running, name: str) -> list[bytes]:
    """Return what patches of a new Deployment answer, without what two objects differ in."""
    path = "/apis/apps/v1/namespaces/default/deployments"
    selector = {"matchLabels": {"app": "a"}}
    spec = {"selector": selector, "template": _TEMPLATE}
    make(running, path, {"metadata": {"name": name}, "spec": spec})
    answers = [
        ask(
            running,
            "PATCH",
            f"{path}/{name}{below}",
            patch,
            content_type=f"application/{kind}+json",
        )
        for below, kind, patch in PATCHES
    ]
    assert [answer.code for answer in answers] == [200] * len(PATCHES)
    varying = rb'"(name|uid|resourceVersion|time|creationTimestamp)":"(?!c")[^"]*"'
    return [re.sub(varying, b"", answer.body) for answer in answers]


def test_an_empty_bundle_of_authorities_is_another_than_none(running: Running) -> None:
    """Nobody sees it, but upstream stores it, and counts generations by it."""
    client = {"url": "https://127.0.0.1:1/x"}
    hook = {
        "name": "a.b.c",
        "clientConfig": client,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    bundled = {**hook, "clientConfig": {**client, "caBundle": ""}}
    kind = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "bundled"},
    }
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    stored = make(running, path, {**kind, "webhooks": [bundled]})
    generations = []
    for sent in (bundled, hook, hook, bundled, bundled):
        meta = {"name": "bundled", "resourceVersion": stored["metadata"]["resourceVersion"]}
        body = {**kind, "metadata": meta, "webhooks": [sent]}
        stored = read(ask(running, "PUT", f"{path}/bundled", body))
        assert stored["webhooks"][0]["clientConfig"] == hook["clientConfig"]
        generations.append(stored["metadata"]["generation"])
    for value in "xy":
        labelled = {"metadata": {"labels": {"a": value}}}
        merge = "application/merge-patch+json"
        stored = read(ask(running, "PATCH", f"{path}/bundled", labelled, content_type=merge))
        generations.append(stored["metadata"]["generation"])
    assert generations == [1, 2, 2, 3, 3, 4, 4]
    ask(running, "DELETE", f"{path}/bundled")
