"""`celadon audit`: what exists, against policies, as admission would judge it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from celadon.cli import processes
from celadon.cli.audit import audit_run
from tests.cli.audit.dumps import FORMS, Json, json_lines, kubectl_yaml, packed, written
from tests.cli.audit.etcd_snapshots.snapshot_files import snapshot
from tests.cli.audit.etcd_snapshots.stored_objects import AES
from tests.cli.files import binding, policy, run, write

Capture = pytest.CaptureFixture[str]
RULES = [
    {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["configmaps", "deployments", "namespaces"],
    }
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("p.json"), policy(), binding())


def config_map(name: str, value: str = "no", namespace: str = "default", **members: Any) -> Json:
    return written("ConfigMap", name, namespace, data={"x": value}, **members)


def dump(*objects: Json, name: str = "dump.json", form: str = "json lines") -> str:
    Path(name).write_bytes(FORMS[form](objects))
    return name


def report(capsys: Capture, *words: str) -> tuple[int, Any]:
    code, out, err = run(capsys, "audit", "-f", "p.json", "-o", "json", *words)
    assert err == ""
    return code, json.loads(out)


def against(found: Any) -> list[tuple[str, str, str]]:
    """Whom a report speaks against: policy, effect, name."""
    return [(one["policy"], one["effect"], one["object"]["name"]) for one in found["results"]]


def test_a_table_for_people(capsys: Capture) -> None:
    source = dump(config_map("a"), config_map("b", "ok"), written("Pod", "p"))
    code, out, err = run(capsys, "audit", "-f", "p.json", source)
    assert (code, err) == (1, "")
    assert out == (
        "limit/limit\n"
        "  rule    p.json:30  spec.validations[0].expression\n"
        "  deny    dump.json:1  ConfigMap default/a: failed expression: object.data.x == 'ok'\n"
        "\n"
        "POLICY  MATCHED   DENIED   WARNED  AUDITED   ERRORS\n"
        "limit         2        1        0        0        0\n"
        "\n"
        "admission plugins not fully asked: ResourceQuota (what exists is counted already), "
        "LimitRanger, PodSecurity (namespace `default` is not given)\n"
        "3 objects, 2 matched by policies: 1 would be denied, 0 warned about, 0 audited"
        " on CREATE (1 policy)\n"
    )


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_say_the_same(form: str, capsys: Capture) -> None:
    code, found = report(capsys, dump(config_map("a"), config_map("b", "ok"), form=form))
    assert (code, against(found)) == (1, [("limit", "deny", "a")])
    assert found["results"][0]["object"]["uid"] == "uid-default-a"


def test_folders_and_packed_files(capsys: Capture) -> None:
    Path("d").mkdir()
    dump(config_map("a"), name="d/one.json")
    dump(config_map("b"), name="d/two.yaml", form="yaml documents")
    Path("three.gz").write_bytes(packed(kubectl_yaml([config_map("c")])))
    _, found = report(capsys, "d", "three.gz")
    assert [name for _, _, name in against(found)] == ["a", "b", "c"]


def test_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("in").write_bytes(json_lines([config_map("a"), config_map("b")]))
    with open("in") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        _, found = report(capsys, "-")
    assert [(one["file"], one["line"]) for one in found["results"]] == [
        ("<stdin>", 1),
        ("<stdin>", 2),
    ]


def test_effects_are_those_of_bindings(capsys: Capture) -> None:
    write(
        Path("p.json"),
        *(policy("a"), binding("a", actions="Deny")),
        *(policy("b"), binding("b", actions="Warn Audit")),
        *(policy("c"), binding("c", actions="Audit")),
        *(policy("d", "1 / 0 == 0"), binding("d", actions="Warn")),
        *(policy("e", "1 / 0 == 0", failurePolicy="Ignore"), binding("e")),
    )
    code, found = report(capsys, dump(config_map("x")))
    assert code == 3
    assert against(found) == [
        ("a", "deny", "x"),
        ("b", "warn", "x"),
        ("c", "audit", "x"),
        ("d", "warn", "x"),
    ]
    assert found["results"][3]["error"] is True
    assert [one["reason"] for one in found["notices"]] == ["error-ignored"]
    numbers = [
        (one["matched"], one["denied"], one["warned"], one["audited"], one["errors"])
        for one in found["policies"]
    ]
    assert numbers == [
        (1, 1, 0, 0, 0),
        (1, 0, 1, 0, 0),
        (1, 0, 0, 1, 0),
        (1, 0, 1, 0, 1),
        (1, 0, 0, 0, 0),
    ]


EXITS = {
    "denied": ("Deny", "no", (), 1),
    "warned": ("Warn", "no", (), 0),
    "warned, and that fails": ("Warn", "no", ("--fail-on", "violation"), 1),
    "denied, and nothing fails": ("Deny", "no", ("--fail-on", "never"), 0),
    "good": ("Deny", "ok", ("--fail-on", "violation"), 0),
}


@pytest.mark.parametrize("name", EXITS)
def test_exit_codes(name: str, capsys: Capture) -> None:
    actions, value, words, code = EXITS[name]
    write(Path("p.json"), policy(), binding(actions=actions))
    assert report(capsys, dump(config_map("a", value)), *words)[0] == code


def test_an_unreadable_input_and_a_broken_policy(capsys: Capture) -> None:
    Path("dump.json").write_bytes(json_lines([config_map("a")]) + b"{oh\n{}\n" * 1)
    assert report(capsys, "dump.json")[0] == 2
    write(Path("p.json"), policy(expression="oh no"), binding())
    assert report(capsys, dump(config_map("a")))[0] == 3


def test_labels_of_namespaces_come_from_the_source(capsys: Capture) -> None:
    selector = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    write(Path("p.json"), policy(), binding(matchResources=selector))
    prod = written("Namespace", "prod", "", metadata={"labels": {"env": "prod"}})
    source = dump(config_map("a", namespace="prod"), config_map("b", namespace="dev"), prod)
    _, found = report(capsys, source)
    assert against(found) == [("limit", "deny", "a")]
    assert [(one["reason"], one["line"]) for one in found["notices"]] == [("namespace-assumed", 2)]
    assert "`dev`" in found["notices"][0]["message"]


@pytest.mark.parametrize("where", ["in the source", "with the policies"])
def test_params(where: str, capsys: Capture) -> None:
    spec: Json = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
    ref = {"name": "wanted", "namespace": "default", "parameterNotFoundAction": "Deny"}
    param = written("ConfigMap", "wanted", data={"x": "yes"})
    judged = policy(expression="params.data.x == object.data.x", **spec)
    given = [param] if where == "with the policies" else []
    write(Path("p.json"), judged, binding(paramRef=ref), *given)
    rest = [] if given else [param]
    _, found = report(capsys, dump(config_map("a"), config_map("b", "yes"), *rest))
    assert against(found) == [("limit", "deny", "a")]


def test_custom_resources_by_their_definition(capsys: Capture) -> None:
    rules = [{**RULES[0], "resources": ["gizmos"]}]
    write(
        Path("p.json"), policy(expression="!has(object.metadata.namespace)", rules=rules), binding()
    )
    names = {"plural": "gizmos", "singular": "gizmo", "kind": "Gizmo", "listKind": "GizmoList"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    definition = written(
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        "gizmos.example.com",
        "",
        spec={"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
        status={"conditions": [{"type": "Established", "status": "True"}]},
    )
    toy = written("example.com/v1/Gizmo", "t", "")
    code, found = report(capsys, dump(toy, definition))
    assert (code, found["summary"]["matched"], found["notices"]) == (0, 1, [])
    code, found = report(capsys, dump(toy))
    assert [one["reason"] for one in found["notices"]] == ["unknown-kind"]


def test_create_and_update(capsys: Capture) -> None:
    expression = "request.operation == 'CREATE' ? oldObject == null : oldObject == object"
    write(Path("p.json"), policy(expression=expression), binding())
    assert report(capsys, dump(config_map("a")))[0] == 0
    assert report(capsys, dump(config_map("a")), "--operation", "UPDATE")[0] == 0
    write(Path("p.json"), policy(expression="object.data.x != oldObject.data.x"), binding())
    code, found = report(capsys, dump(config_map("a")), "--operation", "UPDATE")
    assert (code, found["summary"]["operation"]) == (1, "UPDATE")


def test_who_asks(capsys: Capture) -> None:
    expression = "request.userInfo.username == 'alice' && 'dev' in request.userInfo.groups"
    write(Path("p.json"), policy(expression=expression), binding())
    assert report(capsys, dump(config_map("a")))[0] == 1
    assert report(capsys, dump(config_map("a")), "--as", "alice", "--as-group", "dev")[0] == 0


def test_manifests_get_their_defaults_and_others_do_not(capsys: Capture) -> None:
    write(Path("p.json"), policy(expression="has(object.spec.replicas)", rules=RULES), binding())
    pods = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": pods}
    stored = written("apps/v1/Deployment", "stored", spec=spec)
    manifest = written("apps/v1/Deployment", "manifest", spec=spec)
    del manifest["metadata"]["uid"]
    _, found = report(capsys, dump(stored, manifest))
    assert against(found) == [("limit", "deny", "stored")]
    _, found = report(capsys, dump(stored, manifest), "--no-defaulting")
    assert [name for _, _, name in against(found)] == ["stored", "manifest"]


def test_namespaces_are_in_themselves(capsys: Capture) -> None:
    expression = "request.namespace == object.metadata.name"
    write(Path("p.json"), policy(expression=expression, rules=RULES), binding())
    assert report(capsys, dump(written("Namespace", "a", "")))[0] == 0


GROUPS = {
    "namespace": [("prod", 2, 2), ("dev", 1, 0), ("-", 1, 0)],
    "label=team": [("red", 2, 2), ("-", 2, 0)],
}


@pytest.mark.parametrize("by", GROUPS)
def test_summaries(by: str, capsys: Capture) -> None:
    write(
        Path("p.json"),
        policy(expression="object.?data.x.orValue('') != 'no'", rules=RULES),
        binding(),
    )
    red: Json = {"metadata": {"labels": {"team": "red"}}}
    objects = [
        *(config_map("a", namespace="prod", **red), config_map("b", namespace="prod", **red)),
        *(config_map("c", "ok", namespace="dev"), written("Namespace", "n", "")),
    ]
    _, found = report(capsys, dump(*objects), "--summary-by", by)
    assert found["groups"]["by"] == by
    rows = [(one["name"], one["matched"], one["denied"]) for one in found["groups"]["items"]]
    assert sorted(rows) == sorted(GROUPS[by])
    assert rows[0][2] == 2
    assert by.upper() in run(capsys, "audit", "-f", "p.json", "dump.json", "--summary-by", by)[1]


def many(count: int) -> str:
    objects = [config_map(f"c{n}", "ok" if n % 3 else "no", f"n{n % 7}") for n in range(count)]
    objects += [written("Pod", f"p{n}") for n in range(5)]
    return dump(*objects)


@pytest.mark.thorough
@pytest.mark.parametrize("words", [(), ("--max-results", "5"), ("--summary-by", "namespace")])
def test_however_many_work(
    words: tuple[str, ...], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celadon.cli.audit.audit_inputs._WHOLE", 0)
    monkeypatch.setattr("celadon.cli.audit.audit_blocks.CHUNK", 2000)
    monkeypatch.setattr("celadon.cli.audit.audit_blocks._PEEKED", 2000)
    source = many(200)
    for form in ("json", "jsonl", "table"):
        found = {
            run(capsys, "audit", "-f", "p.json", source, "-o", form, "--jobs", jobs, *words)
            for jobs in ("1", "2", "5")
        }
        assert len(found) == 1


def test_two_find_what_one_finds(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celadon.cli.audit.audit_inputs._WHOLE", 0)
    monkeypatch.setattr("celadon.cli.audit.audit_blocks.CHUNK", 2000)
    source = many(30)
    alone, together = (
        run(capsys, "audit", "-f", "p.json", source, "-o", "json", "--jobs", jobs)
        for jobs in ("1", "2")
    )
    assert alone == together


@pytest.mark.parametrize(
    ("jobs", "worth", "expected"), [("0", 1 << 16, 0), ("0", 1, 3), ("2", 1 << 16, 2)]
)
def test_what_is_soon_done_needs_no_workers(
    jobs: str, worth: int, expected: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    forks: list[object] = []
    started = processes.started

    def counted(work: Any, stack: ExitStack) -> BinaryIO:
        forks.append(work)
        return started(work, stack)

    monkeypatch.setattr(audit_run, "WORTH_WORKERS", worth)
    monkeypatch.setattr(audit_run, "possible_workers", lambda number: number or 3)
    monkeypatch.setattr(audit_run, "started", counted)
    code, _ = report(capsys, many(10), "--jobs", jobs)
    assert (code, len(forks)) == (1, expected)


def test_no_more_violations_than_wanted(capsys: Capture) -> None:
    source = many(30)
    code, found = report(capsys, source, "--max-results", "4")
    assert code == 1
    assert [one["line"] for one in found["results"]] == [1, 4, 7, 10]
    assert (found["summary"]["violations"], found["summary"]["violationsOmitted"]) == (10, 6)
    _, out, _ = run(capsys, "audit", "-f", "p.json", source, "-o", "jsonl", "--max-results", "4")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [one["line"] for one in lines[:-1]] == list(range(1, 30, 3))
    assert lines[-1]["summary"]["violations"] == 10


NOTICED = {
    "nothing is matched": ((policy(), binding()), (written("Pod", "p"),), "policy-unmatched"),
    "nothing is there": ((policy(), binding()), (), "nothing-to-check"),
    "no binding": ((policy(),), (config_map("a"),), "policy-without-binding"),
    "no policy": ((binding(),), (config_map("a"),), "no-policy"),
}


@pytest.mark.parametrize("name", NOTICED)
def test_silence_is_said(name: str, capsys: Capture) -> None:
    policies, objects, reason = NOTICED[name]
    write(Path("p.json"), *policies)
    code, found = report(capsys, dump(*objects))
    assert code == 0
    assert reason in [one["reason"] for one in found["notices"]]
    assert report(capsys, "dump.json", "--strict")[0] == 3


def test_a_backup_of_etcd(capsys: Capture) -> None:
    stored = {f"/registry/configmaps/default/{one}": config_map(one, one) for one in ("no", "ok")}
    values = [(key, json.dumps(one).encode()) for key, one in stored.items()]
    Path("s.db").write_bytes(snapshot([*values, ("/registry/secrets/default/s", AES)]))
    code, found = report(capsys, "--etcd-snapshot", "s.db", dump(config_map("a")))
    assert code == 1
    assert against(found) == [("limit", "deny", "a"), ("limit", "deny", "no")]
    assert found["results"][1]["file"] == "s.db!/registry/configmaps/default/no"
    assert found["results"][1].get("line", 0) == 0
    assert [one["reason"] for one in found["notices"]] == ["not-evaluated"]
    Path("s.db").write_bytes(snapshot([values[1], ("/registry/secrets/default/s", AES)]))
    assert report(capsys, "--etcd-snapshot", "s.db")[0] == 0
    assert report(capsys, "--etcd-snapshot", "s.db", "--strict")[0] == 3


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"kind: Pod\n", "it is no database of etcd"),
        (snapshot([("/registry/x", b"{}")])[:-512], "its checksum is another one"),
        (
            snapshot([("/registry/pods/a/b", b"k8s\0\xff")]),
            "s.db!/registry/pods/a/b: cannot be read",
        ),
        (snapshot([("/x", b"{}")]), "no key begins with `/registry/`"),
    ],
)
def test_a_damaged_backup_of_etcd(content: bytes, why: str, capsys: Capture) -> None:
    Path("s.db").write_bytes(content)
    code, out, err = run(capsys, "audit", "-f", "p.json", "--etcd-snapshot", "s.db")
    assert code == 2
    assert why in out + err


def test_a_backup_of_etcd_is_no_dump(capsys: Capture) -> None:
    Path("s.db").write_bytes(snapshot([]))
    code, _, err = run(capsys, "audit", "-f", "p.json", "s.db")
    assert code == 2
    assert "s.db: it is a snapshot of etcd, not a dump" in err


WRONG = {
    "both": (
        ("-f", "p.json", "--etcd-snapshot", "s", "--from-cluster"),
        "either dumps or a cluster",
    ),
    "no policies": (("dump.json",), "no policies"),
    "no source": (("-f", "p.json"), "nothing to audit"),
    "twice": (("-f", "-", "-"), "standard input"),
    "a group alone": (("-f", "p.json", "d", "--as-group", "g"), "`--as-group` goes with `--as`"),
    "a summary": (("-f", "p.json", "d", "--summary-by", "age"), "`age` is none of policy"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage(name: str, capsys: Capture) -> None:
    words, said = WRONG[name]
    code, _, err = run(capsys, "audit", *words)
    assert code == 2
    assert said in err


def test_what_is_audited_is_what_check_says(capsys: Capture) -> None:
    """Of manifests, since `check` takes all documents for some."""
    write(
        Path("p.json"),
        policy("a", "object.metadata.name.startsWith('c')", rules=RULES),
        binding("a"),
        policy("b", "object.data.x == 'ok'"),
        binding("b", matchResources={"objectSelector": {"matchLabels": {"a": "b"}}}),
    )
    objects = [config_map(name, value) for name in ("a", "c") for value in ("ok", "no")]
    objects += [config_map("l", metadata={"labels": {"a": "b"}})]
    for number, one in enumerate(objects):
        del one["metadata"]["uid"], one["metadata"]["resourceVersion"]
        one["metadata"]["name"] += str(number)
    source = dump(*objects)
    _, out, _ = run(capsys, "check", "-f", "p.json", source, "-o", "json")
    wanted = [
        (violation["policy"], one["name"], violation["message"])
        for one in json.loads(out)["objects"]
        for violation in one.get("violations", ())
    ]
    _, found = report(capsys, source)
    assert wanted
    assert [
        (one["policy"], one["object"]["name"], one["message"]) for one in found["results"]
    ] == wanted


# --- Policies of the library -------------------------------------------------


def claim(storage_class: str) -> Json:
    return written(
        "PersistentVolumeClaim",
        "data",
        "shop",
        spec={
            "storageClassName": storage_class,
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "refusing", "left_out"),
    [
        (["--library", "storage", "dump.json"], {"volume-access-modes"}, True),
        (["dump.json", "--library", "storage"], {"volume-access-modes"}, True),
        (["dump.json", "--library"], {"volume-access-modes"}, True),
        (["--library", "storage-classes", "dump.json"], {"storage-classes"}, False),
        (["--library", "volume-claim-size", "--", "dump.json"], set(), False),
    ],
)
def test_the_library_is_asked_without_a_copy(
    words: list[str], refusing: set[str], left_out: bool, capsys: Capture
) -> None:
    """Policies whose params are the owner's are asked by name only; those that find nothing to
    judge are passed over, and so are the project's."""
    write(Path("celadon.toml.json"), policy(), binding())
    Path("celadon.toml").write_text('policies = ["celadon.toml.json"]\n', encoding="utf-8")
    dump(claim("gold"))
    code, out, err = run(capsys, "audit", "-o", "json", *words)
    found = json.loads(out)
    assert {one["policy"] for one in found["results"]} == refusing
    assert code == (1 if refusing else 0)
    assert ("not asked, since their params are yours to choose" in err) is left_out
    assert not [one for one in found["notices"] if "matched none" in one["message"]]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--library", "storag", "dump.json"], "no policy `storag` in the library, did you mean"),
        (["--library", "storage"], "nothing to audit"),
    ],
)
def test_names_that_the_library_does_not_have(
    words: list[str], complaint: str, capsys: Capture
) -> None:
    dump(claim("gold"))
    code, out, err = run(capsys, "audit", *words)
    assert (code, out) == (2, "")
    assert complaint in err
