"""What plugins have against what exists: the verdict of `celadon check` for the same objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission import ADMIN, ObjectWorld, Operation, Request
from celadon.cli.audit.audit_inputs import preparation
from celadon.cli.audit.object_audit import PluginAudit
from celadon.cli.check.plugins import PluginChoice
from celadon.cli.reading.documents import Document
from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.cli.files import binding, policy, run, write

Json = dict[str, Any]
SHOP: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "n"}}
LIMITS: Json = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "small", "namespace": "shop", "uid": "l"},
    "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "1"}}]},
}
CLASS: Json = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high", "uid": "c"},
    "value": 1000,
}


def pod(uid: str = "", cpu: str = "", **spec: Any) -> Json:
    container: Json = {"name": "c", "image": "i"}
    if cpu:
        container["resources"] = {"limits": {"cpu": cpu}, "requests": {"cpu": cpu}}
    about = {"name": "p", "namespace": "shop", **({"uid": uid} if uid else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": about,
        "spec": {"containers": [container], **spec},
    }


ENDING = {**SHOP, "status": {"phase": "Terminating"}}
OBJECTS = [
    ([SHOP, LIMITS], pod(cpu="2"), "LimitRanger"),
    ([SHOP, LIMITS], pod(cpu="1"), ""),
    ([SHOP, LIMITS], pod(), ""),
    ([SHOP, CLASS], pod(priorityClassName="high", priority=5), "Priority"),
    ([SHOP, CLASS], pod(priorityClassName="high", priority=1000), ""),
    ([SHOP], pod(priorityClassName="low"), ""),
    ([ENDING], pod(), "NamespaceLifecycle"),
]


@pytest.mark.thorough
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("there", "one", "plugin"), OBJECTS)
def test_as_check_says(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: list[Json],
    one: Json,
    plugin: str,
    stored: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    about = {**one["metadata"], "uid": "u"} if stored else one["metadata"]
    write(Path("policies.json"), policy(), binding())
    write(Path("there.json"), *there)
    write(Path("dump.json"), *there, {**one, "metadata": about})
    write(Path("one.json"), one)
    _, out, _ = run(capsys, "audit", "-f", "policies.json", "dump.json", "-o", "json")
    report = json.loads(out)
    assert [x["policy"] for x in report["results"] if x["object"]["name"] == "p"] == (
        [plugin] if plugin else []
    )
    _, out, _ = run(
        capsys, "check", "-f", "policies.json", "-f", "there.json", "one.json", "-o", "json"
    )
    checked = json.loads(out)["objects"][0]
    assert checked.get("plugin", "") == plugin
    if plugin:
        assert checked["message"].endswith(report["results"][0]["message"])


@pytest.mark.parametrize(
    ("value", "subresource", "plugin"),
    [
        (pod(), "", ""),
        (pod(cpu="2"), "", "LimitRanger"),
        (pod(cpu="1"), "", ""),
        (pod(), "ephemeralcontainers", ""),
    ],
)
def test_what_a_server_fills_in_is_there_for_what_comes_anew(
    value: Json, subresource: str, plugin: str
) -> None:
    there = [Document.of_value(one) for one in (SHOP, LIMITS)]
    prepare = preparation(there, ADMIN, "2026-01-01T00:00:00Z", "1.36")
    asked = PluginAudit(PluginChoice(), "1.36", ObjectWorld([SHOP, LIMITS]), prepare)
    about = GroupVersionKind("", "v1", "Pod"), GroupVersionResource("", "v1", "pods"), subresource
    answer = asked.answer(
        Request(Operation.CREATE, *about, name="p", namespace="shop", object=value)
    )
    assert answer.plugin == plugin


def test_whoever_is_left_out_says_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("policies.json"), policy(), binding())
    write(Path("dump.json"), SHOP, LIMITS, pod(cpu="2"))
    given = ("audit", "-f", "policies.json", "dump.json", "-o", "json")
    _, out, _ = run(capsys, *given, "--disable-admission-plugins", "LimitRanger")
    report = json.loads(out)
    assert report["results"] == []
    assert "LimitRanger" not in report["plugins"]["asked"]
    assert {one["plugin"] for one in report["plugins"]["unasked"]} == {"ResourceQuota"}
