"""Cases about what controllers would create."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.files import binding, policy, run, write

RULES = [
    {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pods"]},
    {"apiGroups": ["batch"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["jobs"]},
]
TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
}
CRON_JOB = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "nightly"},
    "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}},
}
WHO = "request.userInfo.username.endsWith(':cronjob-controller')"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def outcome(capsys: pytest.CaptureFixture[str], *cases: dict[str, Any]) -> tuple[int, str]:
    write(Path("limit.json"), policy(expression=WHO, rules=RULES), binding())
    value = {
        "apiVersion": "celadon.dev/v1",
        "kind": "PolicyTest",
        "policies": ["limit.json"],
        "objects": {"nightly": CRON_JOB},
        "defaults": {"object": "nightly"},
        "cases": list(cases),
    }
    write(Path("limit.policytest.json"), value)
    code, out, err = run(capsys, "test", "limit.policytest.json")
    return code, out + err


def test_the_request_is_the_controllers(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = outcome(
        capsys,
        {"name": "job", "generated": "Job", "expect": "admit"},
        {"name": "pod", "generated": "Pod", "expect": "deny"},
        {"name": "itself", "expect": "noMatch"},
    )
    assert code == 0, out


def test_what_nobody_creates(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = outcome(capsys, {"name": "set", "generated": "ReplicaSet", "expect": "admit"})
    assert code != 0
    assert "no controller creates a ReplicaSet of a CronJob" in out
