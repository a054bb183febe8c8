"""What releases say of what exists: policies, versions in use, versions in which it is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.audit import cluster_audit
from celadon.cli.audit.audit_report import AuditedObject, Violation
from celadon.cli.audit.audit_run import _answer
from celadon.cli.check.check_report import Place
from celadon.cli.check.upgrade_report import Answer
from celadon.kube.protobuf import encode
from celadon.kube.releases import answering_as
from celadon.testing import KubeApi, ServerOptions
from celadon.webhook.cluster import ClusterClient, Page
from tests.cli.audit.dumps import Json, json_lines, written
from tests.cli.audit.etcd_snapshots.snapshot_files import snapshot
from tests.cli.files import binding, config_map, policy, run, write

Capture = pytest.CaptureFixture[str]
FLOW = "flowcontrol.apiserver.k8s.io/v1beta3"
LEVEL = {"type": "Exempt"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def report(capsys: Capture, releases: str, *words: str) -> tuple[int, Any]:
    given = ("audit", "--no-config", "--kubernetes-version", releases, "-o", "json", *words)
    code, out, err = run(capsys, *given)
    assert err == ""
    return code, json.loads(out)


def dumped(*objects: Json) -> str:
    Path("dump.jsonl").write_bytes(json_lines(objects))
    return "dump.jsonl"


def stored(*objects: Json, form: str = "json") -> str:
    """A snapshot of etcd; with the form `protobuf`, as servers write built-in kinds."""
    values = []
    for number, value in enumerate(objects):
        data = json.dumps(value).encode()
        if form == "protobuf":
            with answering_as("1.30"):
                data = encode(value)
        values.append((f"/registry/things/{number}", data))
    Path("etcd.db").write_bytes(snapshot(values))
    return "etcd.db"


def said(found: Any) -> list[tuple[str, bool, list[tuple[str, str, str]]]]:
    """Of each difference the title, whether it is unsafe, and the state of each stretch."""
    return [
        (
            one["title"],
            one["unsafe"],
            [
                (each["releases"][0], each["releases"][-1], each["state"])
                for each in one["stretches"]
            ],
        )
        for one in found["differences"]
    ]


ABOUT = AuditedObject(Place("dump", 1), "v1", "Pod", "shop", "a", "u", "1")


@pytest.mark.parametrize(
    ("effects", "answer"),
    [
        (("deny",), Answer("denied", is_refused=True, message="p0: no 0")),
        (("audit", "deny", "warn", "deny"),
         Answer("denied", is_refused=True, message="p1: no 1; p3: no 3")),
        (("warn", "audit", "warn"), Answer("warned", warnings=("p0: no 0", "p2: no 2"))),
        (("audit",), Answer("audited", warnings=("p0: no 0",))),
    ],
)  # fmt: skip
def test_the_strongest_of_what_is_against_an_object(
    effects: tuple[str, ...], answer: Answer
) -> None:
    violations = [
        Violation(ABOUT, f"p{number}", "b", "", "f", Place("p", 1), f"no {number}", effect, False)
        for number, effect in enumerate(effects)
    ]
    assert _answer(violations) == answer


def test_a_version_that_is_not_served_any_more(capsys: Capture) -> None:
    """The deprecation is in the words of the server, and so is what a client gets afterwards."""
    level = f"{FLOW}/PriorityLevelConfiguration"
    source = dumped(written(level, "a", "", spec=LEVEL), written(level, "b", "", spec=LEVEL))
    code, found = report(capsys, "1.31,1.32", source)
    (difference,) = found["differences"]
    assert (code, difference["unsafe"]) == (1, True)
    assert difference["title"] == (
        f"PriorityLevelConfiguration written in {FLOW} (2 objects, first `a`)"
    )
    before, after = difference["stretches"]
    assert before["warnings"] == [
        f"{FLOW} PriorityLevelConfiguration is deprecated in v1.29+, unavailable in v1.32+; use "
        "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration"
    ]
    assert (
        after["message"] == f'no matches for kind "PriorityLevelConfiguration" in version "{FLOW}"'
    )
    assert after["replacement"] == "flowcontrol.apiserver.k8s.io/v1"


def test_versions_that_clients_name(capsys: Capture) -> None:
    """What was applied last would be refused by the next release; who has managed a field once may
    do something else by now."""
    applied = json.dumps({"apiVersion": FLOW, "kind": "FlowSchema"})
    about = {
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied},
        "managedFields": [
            {"manager": "robot", "operation": "Update", "apiVersion": FLOW, "fieldsV1": {}},
            {"manager": "other", "apiVersion": "flowcontrol.apiserver.k8s.io/v1"},
        ],
    }
    source = dumped(written("flowcontrol.apiserver.k8s.io/v1/FlowSchema", "a", "", metadata=about))
    code, found = report(capsys, "1.31..1.33", source)
    states = [("1.31", "1.31", "served"), ("1.32", "1.33", "not served")]
    assert (code, said(found)) == (
        1,
        [
            (f"FlowSchema last applied in {FLOW} (`a`)", True, states),
            (f"FlowSchema managed by `robot` in {FLOW} (`a`)", False, states),
        ],
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "releases", "states"),
    [
        (f"{FLOW}/FlowSchema", "1.31..1.33", None),
        ("networking.k8s.io/v1alpha1/IPAddress", "1.33,1.34",
         [("1.33", "1.33", "readable"), ("1.34", "1.34", "not readable")]),
        ("autoscaling/v2beta2/HorizontalPodAutoscaler", "1.34..1.36",
         [("1.34", "1.35", "readable"), ("1.36", "1.36", "not readable")]),
        ("resource.k8s.io/v1alpha3/DeviceClass", "1.32..1.34",
         [("1.32", "1.33", "readable"), ("1.34", "1.34", "not readable")]),
        ("resource.k8s.io/v1/DeviceClass", "1.33,1.34",
         [("1.33", "1.33", "not readable"), ("1.34", "1.34", "readable")]),
        ("example.com/v1/Widget", "1.30..1.36", None),
        ("extensions/v1beta1/Ingress", "1.30..1.36", None),
    ],
)  # fmt: skip
def test_stored_versions(
    capsys: Capture, kind: str, releases: str, states: list[tuple[str, str, str]] | None
) -> None:
    """A server goes on reading what it does not serve any more, as long as it knows the version."""
    source = stored(written(kind, "a", "", spec={}))
    code, found = report(capsys, releases, "--etcd-snapshot", source)
    differences = said(found)
    assert [one[2] for one in differences] == ([states] if states else [])
    assert code == int(bool(states and states[-1][2] == "not readable"))


def test_what_is_stored_as_protobuf_of_a_version_that_is_gone(capsys: Capture) -> None:
    """Its envelope tells the version where nobody can read the rest."""
    source = stored(
        {
            "apiVersion": "resource.k8s.io/v1alpha2",
            "kind": "ResourceClaim",
            "metadata": {"name": "c", "namespace": "shop"},
            "spec": {"resourceClassName": "gpu"},
        },
        form="protobuf",
    )
    code, found = report(capsys, "1.30,1.31", "--etcd-snapshot", source)
    (difference,) = found["differences"]
    assert code == 1
    assert difference["stretches"][-1]["message"] == (
        'no kind "ResourceClaim" is registered for version "resource.k8s.io/v1alpha2"'
    )


def test_policies_that_only_a_later_release_can_run(capsys: Capture) -> None:
    """A release accepts in a new policy what the release before it knew: `distinct` is of 1.34."""
    write(Path("p.json"), policy(expression="['a', 'a'].distinct().size() == 2"), binding())
    source = dumped(written("ConfigMap", "a", data={"x": "no"}))
    code, found = report(capsys, "1.34..1.36", "-f", "p.json", source)
    assert code == 1
    assert said(found) == [
        ("ValidatingAdmissionPolicy limit", False,
         [("1.34", "1.34", "not accepted"), ("1.35", "1.36", "accepted")]),
        ("ConfigMap default/a", True,
         [("1.34", "1.34", "admitted"), ("1.35", "1.36", "denied")]),
    ]  # fmt: skip


def test_nothing_differs(capsys: Capture) -> None:
    write(Path("p.json"), policy(), binding())
    source = dumped(written("ConfigMap", "a", data={"x": "no"}))
    code, found = report(capsys, "1.30..1.36", "-f", "p.json", source)
    assert (code, found["differences"]) == (0, [])
    assert (found["summary"]["objects"], found["summary"]["policies"]) == (1, 1)


@pytest.mark.parametrize(("fail_on", "code"), [("deny", 1), ("violation", 1), ("never", 0)])
def test_what_makes_it_fail(capsys: Capture, fail_on: str, code: int) -> None:
    source = stored(written("networking.k8s.io/v1alpha1/IPAddress", "a", "", spec={}))
    words = ("--etcd-snapshot", source, "--fail-on", fail_on)
    assert report(capsys, "1.33,1.34", *words)[0] == code


def test_stored_versions_that_a_definition_has_lost(capsys: Capture) -> None:
    definition = written(
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        "widgets.example.com",
        "",
        spec={
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Cluster",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {}}],
        },
        status={"storedVersions": ["v1alpha1", "v1"]},
    )
    source = stored(definition)
    code, found = report(capsys, "1.35,1.36", "--etcd-snapshot", source)
    assert (code, found["differences"]) == (0, [])
    (notice,) = found["notices"]
    assert "`widgets.example.com` has objects that are stored in `v1alpha1`" in notice["message"]
    assert report(capsys, "1.35,1.36", "--etcd-snapshot", source, "--strict")[0] == 1


def test_a_cluster(capsys: Capture) -> None:
    """One of 1.31, which has flow schemas that somebody has written in a version of old."""
    schema = {
        "apiVersion": FLOW,
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": "mine"},
        "spec": {
            "type": "Limited",
            "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}},
        },
    }
    with KubeApi([schema], ServerOptions(version="1.31")) as api:
        words = ("--kubeconfig", str(api.kubeconfig))
        code, found = report(capsys, "1.31,1.32", *words)
    titles = [one["title"] for one in found["differences"] if "mine" in one["title"]]
    assert code == 0
    assert titles == [f"PriorityLevelConfiguration managed by `unknown` in {FLOW} (`mine`)"]


def test_a_cluster_is_listed_once(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each release judges the same pages."""
    asked: list[str] = []
    page = ClusterClient.page

    async def noted(self: ClusterClient, path: str, query: Mapping[str, str]) -> Page:
        asked.append(f"{path}?{'&'.join(f'{key}={query[key]}' for key in sorted(query))}")
        return await page(self, path, query)

    monkeypatch.setattr(ClusterClient, "page", noted)
    monkeypatch.setattr(cluster_audit, "PAGE", 2)
    given = write(Path("p.json"), policy(expression="object.data.x != 'no'"), binding())
    objects = [config_map(f"c{number}", "default", x="no") for number in range(5)]
    with KubeApi(objects, ServerOptions(version="1.31")) as api:
        words = ("-f", given, "--kubeconfig", str(api.kubeconfig))
        _, found = report(capsys, "1.31..1.36", *words)
    assert len([one for one in asked if one.startswith("/api/v1/configmaps?")]) > 3
    assert len(asked) == len({*asked})
    assert found["problems"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--state", "s"], "several releases go neither with `--fleet` nor with `--state`"),
        (["-o", "jsonl"], "several releases are not reported as `jsonl`"),
    ],
)
def test_what_does_not_go_with_it(capsys: Capture, words: list[str], message: str) -> None:
    code, _, err = run(capsys, "audit", "--kubernetes-version", "1.31,1.32", "x", *words)
    assert code == 2
    assert message in err
