"""`celadon replay`: what policies would have said to logged requests, and what was said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission import VALIDATION_FAILURE
from tests.cli.files import binding, config_map, policy, run, write
from tests.cli.replay.events import PACKED, Json, as_gke, event, failure, gzip64, lines

Capture = pytest.CaptureFixture[str]
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["*"],
    "resources": ["configmaps", "configmaps/*", "pods", "pods/*", "namespaces"],
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("p.json"), policy(), binding())


def replayed(capsys: Capture, *events: Json, code: int | None = None, text: str = "") -> Any:
    Path("audit.log").write_text(text or lines(events))
    found, out, err = run(capsys, "replay", "-f", "p.json", "audit.log", "-o", "json")
    assert err == ""
    assert code is None or found == code
    return json.loads(out)


def reasons(found: Any) -> dict[str, int]:
    return {one["reason"]: one["count"] for one in found["undecidable"]}


def judge(expression: str, **spec: Any) -> None:
    spec.setdefault("rules", [RULE])
    write(Path("p.json"), policy(expression=expression, **spec), binding())


def test_a_table_for_people(capsys: Capture) -> None:
    robot = {"username": "system:serviceaccount:ci:robot"}
    later = "2026-03-02T10:00:00.000000Z"
    Path("audit.log").write_text(
        lines(
            [
                event(),
                event(name="b", user=robot, requestReceivedTimestamp=later),
                event(name="c", x="ok"),
                event("get"),
                event(name="m", level="Metadata", requestObject=None, responseObject=None),
            ]
        )
    )
    code, out, err = run(capsys, "replay", "-f", "p.json", "audit.log")
    assert (code, err) == (1, "")
    assert "limit: would have spoken against 2 requests\n" in out
    assert (
        "  deny    2026-03-01T10:00:00.000000Z alice CREATE ConfigMap default/a: "
        "failed expression: object.data.x == 'ok'\n"
        "          p.json:30  spec.validations[0].expression  audit.log:1  id-a\n"
    ) in out
    assert "ci/robot" in out
    assert "undecidable: 1 request\n        1  the log has no objects of it (level Metadata)" in out
    assert out.endswith(
        "5 events from 2026-03-01T10:00:00.000000Z to 2026-03-02T10:00:00.000000Z: 3 judged, "
        "1 undecidable, 0 of no policy's concern, 1 read; 2 requests would have been denied, "
        "0 were (1 policy)\n"
    )


@pytest.mark.parametrize("form", PACKED)
def test_however_it_is_packed(form: str, capsys: Capture) -> None:
    text = PACKED[form]([event(), event(name="b", x="ok")])
    found = replayed(capsys, text=text, code=1)
    assert (found["summary"]["events"], found["summary"]["judged"]) == (2, 2)
    (example,) = found["would"]["examples"]
    assert (example["object"], example["user"]) == ("ConfigMap default/a", "alice")
    assert (example["auditID"], example["time"][:10]) == ("id-a", "2026-03-01")


ROTATED = {
    "by the server": (
        "audit-2026-03-01T00-00-00.000.log.gz",
        "audit-2026-03-02T00-00-00.000.log",
        "audit.log",
    ),
    "numbered": ("audit.log.10.gz", "audit.log.9", "audit.log"),
    "dated behind": ("audit.log.20260301.gz", "audit.log.20260302", "audit.log"),
}
"""Names of files, the oldest first."""


@pytest.mark.parametrize("name", ROTATED)
def test_rotated_sets_in_their_order(name: str, capsys: Capture) -> None:
    Path("logs").mkdir()
    for number, file in enumerate(ROTATED[name]):
        data = lines([event(name=f"{number}")]).encode()
        Path("logs", file).write_bytes(gzip.compress(data) if file.endswith(".gz") else data)
    Path("logs/notes.md").write_text("no log")
    for words in (["logs"], ["logs/*log*"]):
        _, out, _ = run(capsys, "replay", "-f", "p.json", *words, "-o", "json")
        examples = json.loads(out)["would"]["examples"]
        assert [one["auditID"] for one in examples] == ["id-0", "id-1", "id-2"]


EXPORTS = {
    "CloudWatch to S3": ("exportedlogs/task/kube-apiserver-audit-a/000000.gz", "a/b/000001.gz"),
    "a storage account": (
        "y=2026/m=03/d=01/h=09/m=00/PT1H.json",
        "y=2026/m=03/d=01/h=10/m=00/PT1H.json",
    ),
    "a bucket of Cloud Storage": (
        "activity/2026/03/01/10:00:00_10:59:59_S0.json",
        "activity/2026/03/02/00:00:00_00:59:59_S0.json",
    ),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_folders_of_exports_have_folders(name: str, capsys: Capture) -> None:
    for number, file in enumerate(EXPORTS[name]):
        Path("logs", file).parent.mkdir(parents=True, exist_ok=True)
        data = lines([event(name=f"{number}")]).encode()
        Path("logs", file).write_bytes(gzip.compress(data) if file.endswith(".gz") else data)
    _, out, _ = run(capsys, "replay", "-f", "p.json", "logs", "-o", "json")
    assert sorted(one["auditID"] for one in json.loads(out)["would"]["examples"]) == [
        "id-0",
        "id-1",
    ]


def test_files_that_were_cut(capsys: Capture) -> None:
    """Rotated in the middle of a line, or copied while they were written."""
    whole = lines([event(), event(name="b")])
    found = replayed(capsys, text=whole[40:] + whole[:-40], code=2)
    assert [one["line"] for one in found["problems"]] == [1, 4]
    assert [one["auditID"] for one in found["would"]["examples"]] == ["id-b", "id-a"]


def test_what_is_packed_wrongly_holds_nothing(capsys: Capture) -> None:
    for data in ("H4sI", "H4sI!", "H4sIAAAAAAAA", gzip64("no JSON")):
        found = replayed(capsys, text=json.dumps({"awslogs": {"data": data}}), code=0)
        assert found["summary"]["noEvents"] == 1


OTHER = {"resource": "pods", "namespace": "default", "name": "p", "apiVersion": "v1"}


def aged(time: str) -> Json:
    """An object that was created then."""
    made = config_map("a", x="no")
    return made | {"metadata": made["metadata"] | {"creationTimestamp": time}}


UNDECIDABLE: dict[str, tuple[Json, str]] = {
    "metadata": (event(level="Metadata", requestObject=None, responseObject=None), "metadata"),
    "truncated": (
        event(
            requestObject=None,
            responseObject=None,
            annotations={"audit.k8s.io/truncated": "true"},
        ),
        "truncated",
    ),
    "patch": (event("patch", level="Request", responseObject=None), "patch"),
    "too large for AKS": (
        event(requestObject="skipped-too-big-size-object", responseObject=None),
        "truncated",
    ),
    "answered too largely for AKS": (
        event(responseObject="skipped-too-big-size-object"),
        "truncated",
    ),
    "only metadata is answered": (
        event(
            "patch",
            responseObject={"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"},
        ),
        "patch",
    ),
    "applied, the log has no code": (as_gke(event("patch")), "applied"),
    "applied, of unknown age": (
        event("patch", responseStatus={}, responseObject=aged("yesterday")),
        "applied",
    ),
    "applied, young": (
        event("patch", responseStatus={}, responseObject=aged("2026-03-01T09:59:30Z")),
        "applied",
    ),
    "a webhook changed it": (
        event(
            responseObject=None,
            annotations={
                "mutation.webhook.admission.k8s.io/round_0_index_0": (
                    '{"configuration":"c","webhook":"w","mutated":true}'
                )
            },
        ),
        "mutated",
    ),
    "refused patch": (
        event("patch", responseObject={"kind": "Status"}, responseStatus={"code": 422}),
        "patch",
    ),
    "collection": (event("deletecollection", requestObject=None), "collection"),
    "no object": (event(requestObject=None, responseObject=None), "no_object"),
    "exec": (event("create", objectRef={**OTHER, "subresource": "exec"}), "connection"),
    "unreadable": (
        event(requestObject={"metadata": {"labels": 7}}, responseObject=None),
        "unusable",
    ),
}


@pytest.mark.parametrize("name", UNDECIDABLE)
def test_what_is_not_told_is_not_guessed(name: str, capsys: Capture) -> None:
    judge("object.data.x == 'ok'")
    one, reason = UNDECIDABLE[name]
    found = replayed(capsys, one, code=0)
    assert reasons(found) == {reason: 1}
    assert found["would"]["denied"] == 0


@pytest.mark.parametrize("name", UNDECIDABLE)
def test_what_concerns_nobody_is_not_undecidable(name: str, capsys: Capture) -> None:
    judge("false", rules=[{**RULE, "resources": ["secrets"]}])
    found = replayed(capsys, UNDECIDABLE[name][0], code=0)
    assert (reasons(found), found["summary"]["unconcerned"]) == ({}, 1)


OLD = {
    "not read": ("object.data.x == 'ok'", 1, {}),
    "does not matter": ("object.data.x == 'ok' && oldObject.data.x == 'ok'", 1, {}),
    "would matter": ("object.data.x == 'no' && oldObject.data.x == 'ok'", 0, {"missing": 1}),
    "is there": ("object.data.x == 'no' || oldObject.data.x == 'ok'", 0, {}),
}


@pytest.mark.parametrize("name", OLD)
def test_old_objects_are_unknown(name: str, capsys: Capture) -> None:
    expression, code, undecidable = OLD[name]
    judge(expression)
    found = replayed(capsys, event("update", responseStatus={"code": 200}), code=code)
    assert reasons(found) == undecidable
    assert found["summary"]["judged"] == 1 - sum(undecidable.values())


GROUPS = {
    "not read": ("request.userInfo.username == 'bob'", 1, {}),
    "would matter": ("'dev' in request.userInfo.groups", 0, {"missing": 1}),
    "does not matter": ("'dev' in request.userInfo.groups || object.data.x == 'no'", 0, {}),
    "who may": (
        "authorizer.group('').resource('pods').check('get').allowed()",
        0,
        {"missing": 1},
    ),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_are_unknown_in_google_logs(name: str, capsys: Capture) -> None:
    expression, code, undecidable = GROUPS[name]
    judge(expression)
    assert reasons(replayed(capsys, as_gke(event()), code=code)) == undecidable


REBUILT: dict[str, tuple[Json, str]] = {
    "who": (
        event(user={"username": "alice", "uid": "7", "groups": ["dev"], "extra": {"k": ["v"]}}),
        "request.userInfo.username == 'alice' && request.userInfo.uid == '7'"
        " && request.userInfo.groups == ['dev'] && request.userInfo.extra['k'] == ['v']",
    ),
    "on behalf of whom": (
        event(impersonatedUser={"username": "bob"}),
        "request.userInfo.username == 'bob'",
    ),
    "dry run": (
        event(requestURI="/api/v1/namespaces/default/configmaps?dryRun=All&x=y"),
        "request.dryRun",
    ),
    "as stored": (event(), "object.metadata.uid == 'u'"),
    "with defaults": (
        event(
            objectRef=OTHER,
            level="Request",
            requestObject={"spec": {"containers": [{"name": "c", "image": "i"}]}},
            responseObject=None,
        ),
        "object.spec.restartPolicy == 'Always' && request.kind.kind == 'Pod'",
    ),
    "applied": (event("patch"), "request.operation == 'CREATE' && oldObject == null"),
    "put where nothing was": (
        event("update"),
        "request.operation == 'CREATE' && oldObject == null",
    ),
    "asked of a webhook that changed nothing": (
        event(
            responseObject=None,
            annotations={
                "mutation.webhook.admission.k8s.io/round_0_index_0": (
                    '{"configuration":"c","webhook":"w","mutated":false}'
                )
            },
        ),
        "object.data.x == 'no'",
    ),
    "patched, by its age": (
        event("patch", responseStatus={}, responseObject=aged("2026-02-01T10:00:00Z")),
        "request.operation == 'UPDATE' && object.data.x == 'no'",
    ),
    "patched": (
        event("patch", responseStatus={"code": 200}),
        "request.operation == 'UPDATE' && object.data.x == 'no'",
    ),
    "status": (
        event("update", objectRef={**OTHER, "subresource": "status"}),
        "request.subResource == 'status' && request.kind.kind == 'Pod'",
    ),
    "deleted": (
        event("delete", responseObject={"kind": "Status"}, requestObject=None),
        "request.operation == 'DELETE' && object == null",
    ),
    "a namespace": (
        event(
            objectRef={"resource": "namespaces", "name": "n", "apiVersion": "v1"},
            responseObject={"metadata": {"name": "n"}},
        ),
        "request.namespace == 'n' && request.name == 'n'",
    ),
}


@pytest.mark.parametrize("name", REBUILT)
def test_requests_are_what_they_were(name: str, capsys: Capture) -> None:
    one, expression = REBUILT[name]
    judge(expression)
    assert replayed(capsys, one, code=0)["summary"]["judged"] == 1
    judge(f"!({expression})")
    replayed(capsys, one, code=1)


def test_custom_resources_without_their_definition(capsys: Capture) -> None:
    judge("object.spec.size < 3", rules=[{**RULE, "apiGroups": ["*"], "resources": ["toys"]}])
    toy = {"apiVersion": "example.com/v1", "kind": "Toy", "spec": {"size": 7}}
    about = {"resource": "toys", "apiGroup": "example.com", "apiVersion": "v1", "name": "t"}
    found = replayed(capsys, event(objectRef=about, requestObject=toy, responseObject=toy), code=1)
    assert found["would"]["byPolicy"][0]["name"] == "limit"
    bare = event(objectRef=about, requestObject=None, responseObject=None)
    assert reasons(replayed(capsys, bare)) == {"kind": 1}


CONNECTIONS = [("get", "exec"), ("create", "attach"), ("delete", "proxy"), ("update", "proxy")]


@pytest.mark.parametrize(("verb", "subresource"), CONNECTIONS)
def test_connections_by_any_verb(verb: str, subresource: str, capsys: Capture) -> None:
    judge("true", rules=[{**RULE, "operations": ["CONNECT"]}])
    found = replayed(capsys, event(verb, objectRef={**OTHER, "subresource": subresource}), code=0)
    assert reasons(found) == {"connection": 1}


def test_a_refused_patch_may_have_been_a_creation(capsys: Capture) -> None:
    judge("true", rules=[{**RULE, "operations": ["CREATE"]}])
    refused = event("patch", responseObject={"kind": "Status"}, responseStatus={"code": 422})
    assert reasons(replayed(capsys, refused, code=0)) == {"patch": 1}
    patched = event("patch", responseStatus={"code": 200})
    assert replayed(capsys, patched, code=0)["summary"]["unconcerned"] == 1


READER: Json = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "readers"},
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
}
READERS: Json = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "readers"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "readers",
    },
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "dev"}],
}


def test_roles_are_given_with_the_policies_or_unknown(capsys: Capture) -> None:
    asks = "authorizer.group('').resource('pods').check('get').allowed()"
    judge(asks)
    boss = {"username": "root", "groups": ["system:masters"]}
    other = {"username": "bob", "groups": ["ops"]}
    events = [event(), event(user=boss), event(name="o", user=other)]
    assert reasons(replayed(capsys, *events, code=0)) == {"missing": 2}
    write(Path("p.json"), policy(expression=asks), binding(), READER, READERS)
    found = replayed(capsys, *events, code=1)
    assert (reasons(found), [one["auditID"] for one in found["would"]["examples"]]) == (
        {},
        ["id-o"],
    )


def test_what_nobody_gave_is_said(capsys: Capture) -> None:
    selector = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    ref = {"name": "wanted", "namespace": "default", "parameterNotFoundAction": "Deny"}
    kind: Any = {"apiVersion": "v1", "kind": "ConfigMap"}
    judged = policy(expression="object.data.x == params.data.x", paramKind=kind)
    write(Path("p.json"), judged, binding(paramRef=ref, matchResources=selector), binding("b", "q"))
    many = [event(objectRef=event()["objectRef"] | {"namespace": f"n{n:02}"}) for n in range(22)]
    said = [one["reason"] for one in replayed(capsys, *many)["notices"]]
    assert said[:3] == ["binding-without-policy", "param-missing", "policy-unmatched"]
    assert set(said[3:]) == {"namespace-assumed"}
    own: Json = {"matchLabels": {"kubernetes.io/metadata.name": "n00"}}
    write(Path("p.json"), policy(), binding(matchResources={"namespaceSelector": own}))
    assert replayed(capsys, *many, code=1)["notices"] == []
    judge("namespaceObject.metadata.labels.env == 'prod'")
    found = replayed(capsys, *many)["notices"]
    assert len(found) == 21
    assert found[0]["message"].startswith("namespace `n00` is not there")
    assert found[-1]["message"].startswith("2 more namespaces are not there")


BOTH: dict[str, tuple[list[str], tuple[int, int, int]]] = {
    "only audits": (["Audit"], (0, 0, 1)),
    "warns too": (["Warn", "Audit"], (0, 1, 0)),
    "denies too": (["Deny", "Audit"], (1, 0, 0)),
    "an old server": ([], (0, 0, 1)),
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("form", [json.dumps, list])
def test_bindings_that_audit_tell_what_else_they_did(name: str, form: Any, capsys: Capture) -> None:
    actions, numbers = BOTH[name]
    row = {"message": "no", "policy": "p", "binding": "b", "validationActions": actions}
    judge("true")
    found = replayed(capsys, event(annotations={VALIDATION_FAILURE: form([row])}), code=0)["did"]
    assert (found["denied"], found["warned"], found["audited"]) == numbers


def test_what_did_happen(capsys: Capture) -> None:
    write(Path("p.json"), policy(expression="true"), binding())
    message = (
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-b' denied "
        "request: too many"
    )
    status = {"kind": "Status", "code": 422, "message": message}
    denied = event(responseStatus=status, responseObject=status, annotations=failure("p", "q"))
    audited = event(name="b", annotations=failure("q"), level="Metadata")
    found = replayed(capsys, denied, audited, event(annotations={VALIDATION_FAILURE: "{"}))
    did = [(one["name"], one["denied"], one["audited"]) for one in found["did"]["byPolicy"]]
    assert did == [("q", 0, 2), ("p", 1, 0)]
    example = found["did"]["byPolicy"][1]["examples"][0]
    assert (example["message"], example["binding"]) == ("too many", "p-b")
    assert found["would"]["denied"] == 0


def test_groups_with_first_and_last(capsys: Capture) -> None:
    robot = {"username": "system:serviceaccount:ci:robot", "groups": []}
    times = [f"2026-03-0{n}T00:00:00.000000Z" for n in (3, 1, 2)]
    found = replayed(
        capsys,
        *(
            event(name=f"a{n}", user=robot, requestReceivedTimestamp=one)
            for n, one in enumerate(times)
        ),
    )
    (row,) = found["would"]["byController"]
    assert (row["name"], row["denied"]) == ("ci/robot", 3)
    assert (row["first"], row["last"]) == (times[1], times[0])
    assert [one["name"] for one in found["would"]["byNamespace"]] == ["default"]
    assert [one["name"] for one in found["would"]["byUser"]] == [robot["username"]]


def test_other_stages_and_other_lines(capsys: Capture) -> None:
    text = lines(
        [event(stage="RequestReceived"), {"level": "info", "message": "hello"}, event("list")]
    )
    found = replayed(capsys, text=text, code=0)["summary"]
    assert (found["otherStages"], found["noEvents"], found["reads"]) == (1, 1, 1)


def test_what_cannot_be_read(capsys: Capture) -> None:
    text = lines([event()]) + "{broken\n" + lines([event(name="b")])
    found = replayed(capsys, text=text, code=2)
    assert [one["line"] for one in found["problems"]] == [2]
    assert found["would"]["denied"] == 2
    assert run(capsys, "replay", "-f", "p.json", "gone.log")[0] == 2
    Path("cut.gz").write_bytes(gzip.compress(lines([event()] * 9).encode())[:-9])
    assert run(capsys, "replay", "-f", "p.json", "cut.gz")[0] == 2


def test_silence_and_strictness(capsys: Capture) -> None:
    Path("audit.log").write_text(lines([event("get")]))
    code, out, _ = run(capsys, "replay", "-f", "p.json", "audit.log", "-o", "json", "--strict")
    assert code == 3
    assert [one["reason"] for one in json.loads(out)["notices"]] == ["policy-unmatched"]
    assert run(capsys, "replay", "audit.log")[0] == 2
    assert run(capsys, "replay", "-f", "p.json")[0] == 2


def test_params_and_namespaces_are_given_with_the_policies(capsys: Capture) -> None:
    kind: Any = {"apiVersion": "v1", "kind": "ConfigMap"}
    ref = {"name": "wanted", "namespace": "default", "parameterNotFoundAction": "Deny"}
    judged = policy(expression="object.data.x == params.data.x", paramKind=kind)
    write(Path("p.json"), judged, binding(paramRef=ref), config_map("wanted", x="no"))
    assert replayed(capsys, event(), event(name="b", x="ok"), code=1)["would"]["denied"] == 1


def test_plugins_are_asked_with_the_user_of_the_log(capsys: Capture) -> None:
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "shop", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}},
    }
    write(Path("p.json"), policy(), binding(), space)
    spec = {"containers": [{"name": "c", "image": "i", "securityContext": {"privileged": True}}]}
    about = {"name": "p", "namespace": "shop"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}
    reference = {"resource": "pods", "namespace": "shop", "name": "p", "apiVersion": "v1"}
    given: Json = {"objectRef": reference, "requestObject": pod, "responseObject": None}
    found = replayed(
        capsys, event(**given), event("update", responseStatus={"code": 200}, **given), code=1
    )
    assert [one["name"] for one in found["would"]["byPolicy"]] == ["PodSecurity"]
    (seen,) = found["would"]["byUser"]
    assert (seen["name"], seen["denied"]) == ("alice", 1)
    assert found["summary"]["wouldBeDenied"] == 1
    unasked = {(one["plugin"], one["reason"]) for one in found["plugins"]["unasked"]}
    assert ("PodSecurity", "the log does not have the old object") in unasked
    assert "PodSecurity" in found["plugins"]["asked"]
