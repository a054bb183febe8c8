"""The image is what the manifests count on. Building it is left to those who have Docker."""

from __future__ import annotations

import json
import re

from celadon import __version__
from celadon.webhook.installation import InstallationSettings, workload_manifests
from tests.paths import ROOT

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STAGES = re.split(r"^FROM ", TEXT, flags=re.M)[1:]


def instruction(name: str) -> str:
    """The only one of its name in the last stage."""
    (found,) = re.findall(rf"^{name} (.*)$", STAGES[-1], re.M)
    return str(found)


def test_what_builds_is_not_what_runs() -> None:
    assert len(STAGES) == 2
    assert not re.search(r"^RUN", STAGES[-1], re.M)
    assert instruction("COPY").startswith("--from=build ")


def test_the_user_is_that_of_the_manifests() -> None:
    user, _, group = instruction("USER").partition(":")
    (deployment,) = [
        one for one in workload_manifests(InstallationSettings(), {}) if one["kind"] == "Deployment"
    ]
    context = deployment["spec"]["template"]["spec"]["securityContext"]
    assert (int(user), int(group)) == (context["runAsUser"], context["runAsGroup"])
    assert int(user) > 0


def test_it_starts_without_a_shell() -> None:
    assert json.loads(instruction("ENTRYPOINT")) == ["python", "-m", "celadon"]
    assert json.loads(instruction("CMD")) == ["--help"]
    assert "PYTHONDONTWRITEBYTECODE=1" in instruction("ENV")


def test_everything_that_is_copied_is_there_and_not_ignored() -> None:
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for line in re.findall(r"^COPY (?!--from)(.*)$", STAGES[0], re.M):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists()
            assert f"!{name}" in allowed
    assert f"celadon:{__version__}" in TEXT
