"""ResourceQuotas in `celadon check`: objects are added up in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.check.test_plugin_desk import Json, checked, namespace, typed
from tests.cli.files import config_map


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def quota(status: Json | None = None, name: str = "q", **hard: str) -> Json:
    told = {key.replace("_", "/"): value for key, value in hard.items()}
    more: Json = {} if status is None else {"status": status}
    return typed(
        "v1", "ResourceQuota", name, own={"namespace": "shop"}, spec={"hard": told}, **more
    )


def maps(*names: str) -> list[Json]:
    return [config_map(name, "shop") for name in names]


def verdicts(report: Json) -> list[str]:
    return [one["verdict"] for one in report["objects"]]


def deployment(replicas: int) -> Json:
    labels = {"app": "web"}
    spec: dict[str, Any] = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }
    return typed("apps/v1", "Deployment", "web", own={"namespace": "shop"}, spec=spec)


def pod(name: str) -> Json:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return typed("v1", "Pod", name, own={"namespace": "shop"}, spec=spec)


def test_objects_are_added_up(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), quota(count_configmaps="2")]
    code, report = checked(capsys, there, maps("a", "b", "c"))
    assert code == 1
    assert verdicts(report) == ["untouched", "untouched", "denied"]
    last = report["objects"][2]
    assert last["plugin"] == "ResourceQuota"
    assert last["message"] == (
        'configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: '
        "count/configmaps=2, limited: count/configmaps=2"
    )


def test_what_is_refused_takes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(enforce="baseline"), quota(pods="1")]
    privileged = pod("a")
    privileged["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    _, report = checked(capsys, there, [privileged, pod("b"), pod("c")])
    assert [one.get("plugin") for one in report["objects"]] == [
        "PodSecurity",
        None,
        "ResourceQuota",
    ]


def test_what_is_there_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), quota(count_configmaps="2"), *maps("x")]
    _, report = checked(capsys, there, maps("a", "b"))
    assert verdicts(report) == ["untouched", "denied"]


def test_a_status_says_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"count/configmaps": "2"}
    there = [namespace(), quota({"hard": counts, "used": counts}, count_configmaps="2")]
    _, report = checked(capsys, there, maps("a"))
    assert verdicts(report) == ["denied"]


def test_a_dry_run_takes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), quota(count_configmaps="1")]
    _, report = checked(capsys, there, maps("a", "b"), "--dry-run")
    assert verdicts(report) == ["untouched", "untouched"]


def test_other_namespaces_are_free(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), namespace("other"), quota(count_configmaps="0")]
    code, _ = checked(capsys, there, [config_map("a", "other")])
    assert code == 0


def test_workers_do_not_matter(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), quota(count_configmaps="400")]
    given = maps(*(f"m{number}" for number in range(600)))
    _, alone = checked(capsys, there, given, "--jobs", "1")
    _, together = checked(capsys, there, given, "--jobs", "2")
    assert alone == together
    assert verdicts(alone).count("denied") == 200


def test_as_many_pods_as_are_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), quota(pods="4")]
    code, report = checked(capsys, there, [deployment(5), pod("a")])
    assert code == 1
    web, _, pods, single = report["objects"]
    assert (web["verdict"], single["verdict"]) == ("untouched", "untouched")
    assert (pods["plugin"], pods["fits"], pods["wanted"]) == ("ResourceQuota", 3, 5)
    assert "requested: pods=1, used: pods=4, limited: pods=4" in pods["message"]


@pytest.mark.parametrize("replicas", [0, 4])
def test_pods_that_fit(capsys: pytest.CaptureFixture[str], replicas: int) -> None:
    code, _ = checked(capsys, [namespace(), quota(pods="4")], [deployment(replicas)])
    assert code == 0


def test_amounts_that_pods_must_name(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), quota(None, **{"requests.cpu": "1"})]
    _, report = checked(capsys, there, [deployment(2)])
    message = report["objects"][-1]["message"]
    assert message.endswith("is forbidden: failed quota: q: must specify requests.cpu for: c")


def test_without_a_replica_set_there_are_no_pods(capsys: pytest.CaptureFixture[str]) -> None:
    hard = {"count/replicasets.apps": "0", "pods": "0"}
    there = [namespace(), quota(None, **hard)]
    _, report = checked(capsys, there, [deployment(1)])
    assert [one["kind"] for one in report["objects"] if not one["allowed"]] == ["ReplicaSet"]
