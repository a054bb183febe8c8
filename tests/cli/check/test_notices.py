"""What is remembered of the verdicts about a stream of objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from celadon.admission import Engine, Note, Outcome, Request, Verdict, World
from celadon.cli.check.document_requests import DocumentRequest
from celadon.cli.check.notices import Coverage
from tests.cli.files import config_map, run, write


class Answers:
    """An engine that has a verdict for each request, and one note about what concerns nobody."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = list(verdicts)
        self.nothing = (Note(Outcome.POLICY_UNMATCHED, "other", ""),)

    def noted(self, request: Request, world: World) -> Verdict:
        return self.verdicts.pop(0)

    def unconcerned(self, request: Request, world: World) -> tuple[Note, ...]:
        return self.nothing


class Object:
    title = "Pod a"
    request = None


def evaluated() -> Verdict:
    return Verdict(notes=(Note(Outcome.EVALUATED, "p", "b"),))


def test_the_verdicts_of_a_stream_are_not_kept() -> None:
    coverage, engine = Coverage(), Answers([evaluated() for _ in range(1_000)])
    for _ in range(1_000):
        _, count = coverage.judge(
            cast(Engine, engine), cast(World, None), cast(DocumentRequest, Object())
        )
        assert count == 1
    assert len(coverage.known) < 500
    assert coverage.outcomes == {"p": {Outcome.EVALUATED}, "other": {Outcome.POLICY_UNMATCHED}}


def test_one_verdict_for_all_is_taken_in_once() -> None:
    coverage, same = Coverage(), evaluated()
    engine = Answers([same, same])
    for _ in range(2):
        coverage.judge(cast(Engine, engine), cast(World, None), cast(DocumentRequest, Object()))
    assert len(coverage.known) == 2


LOST = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: lost
spec:
  validationActions: [Deny]
  policyName: nobody
"""


def test_a_binding_without_a_policy_is_noticed_where_it_names_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lost.yaml").write_text(LOST)
    resource = write(tmp_path / "object.json", config_map())
    _, out, _ = run(capsys, "check", "-f", str(tmp_path / "lost.yaml"), resource, "-o", "json")
    notices = json.loads(out)["notices"]
    (notice,) = (one for one in notices if one["reason"] == "binding-without-policy")
    assert (notice["file"], notice["line"]) == (str(tmp_path / "lost.yaml"), 7)
    assert notice["message"] == "binding `lost` names policy `nobody`, which is not there"
