"""The Helm chart makes the same installation as the command."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon import __version__
from celadon.webhook.installation import chart_values
from celadon.webhook.webhook_rules import EVERYTHING, InstallationSettings, policy_configuration
from tests.clients.programs import program
from tests.paths import ROOT
from tests.webhook.installation.installations import (
    FILES,
    INSTALLATIONS,
    by_name,
    covered,
    documents,
    mutated,
)

CHART = ROOT / "deploy" / "helm" / "celadon"
SECONDS = 60


def helm(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # a client, with arguments of the test
        [program("helm"), *words], capture_output=True, text=True, timeout=SECONDS, check=False
    )


def rendered(namespace: str, *words: str) -> dict[tuple[str, str], Any]:
    done = helm("template", "release", str(CHART), "--namespace", namespace, *words)
    assert done.returncode == 0, done.stderr
    return by_name([one for one in yaml.safe_load_all(done.stdout) if one])


@pytest.mark.thorough
@pytest.mark.parametrize("settings", INSTALLATIONS.values(), ids=INSTALLATIONS)
def test_the_chart_makes_what_the_command_prints(
    settings: InstallationSettings, tmp_path: Path
) -> None:
    file = tmp_path / "values.yaml"
    values = chart_values(settings, FILES, covered(), mutated())
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    assert rendered(settings.namespace, "-f", str(file)) == by_name(documents(settings))


@pytest.mark.thorough
def test_the_values_of_the_chart_itself() -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART)).stdout
    found = rendered("infra", "--set", "policies.fromCluster=true")
    expected = policy_configuration([EVERYTHING], InstallationSettings(namespace="infra"))
    assert found["ValidatingWebhookConfiguration", "celadon-webhook"] == expected
    deployment = found["Deployment", "celadon-webhook"]
    settings = InstallationSettings(namespace="infra", from_cluster=True)
    assert deployment == by_name(documents(settings))["Deployment", "celadon-webhook"]


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", ["replicas=0", "certificates.source=none", "nope=1", "name=A_b"])
def test_the_schema_refuses(wrong: str) -> None:
    done = helm("template", "release", str(CHART), "--set", wrong)
    assert done.returncode != 0
    assert "values don't meet the specifications of the schema" in done.stderr


@pytest.mark.thorough
def test_nothing_is_asked_of_a_webhook_without_policies() -> None:
    kinds = {kind for kind, _ in rendered("infra")}
    assert "Deployment" in kinds
    assert "ValidatingWebhookConfiguration" not in kinds


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("given", "fails"),
    [
        ("certificates.caBundle=UEVN", False),
        ("auditOnly=true", False),
        ("name=other", True),
    ],
)
def test_the_api_server_must_know_the_authority_of_what_may_not_fail(
    given: str, fails: bool
) -> None:
    cluster = "policies.fromCluster=true,certificates.source=secret"
    done = helm("template", "release", str(CHART), "--set", f"{cluster},{given}")
    assert (done.returncode != 0) is fails
    assert ("give certificates.caBundle" in done.stderr) is fails


def test_versions() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert chart["version"] == chart["appVersion"] == __version__
    assert values["image"] == f"celadon:{__version__}" == InstallationSettings().image


@pytest.mark.thorough
def test_only_mutating_policies(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    values = chart_values(InstallationSettings(), FILES, [], mutated())
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    kinds = {kind for kind, _ in rendered("celadon", "-f", str(file))}
    assert "MutatingWebhookConfiguration" in kinds
    assert "ValidatingWebhookConfiguration" not in kinds
