"""A folder of recorded answers: what is none, and which of several is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.check.webhook_answers import recorded_answers
from tests.cli.files import Json, write

REVIEW: Json = {"kind": "AdmissionReview", "response": {"uid": "u", "allowed": True}}
STATUS: Json = {"kind": "Status", "code": 503}


@pytest.mark.parametrize(
    ("name", "document", "problem"),
    [
        ("hook.json", REVIEW, None),
        ("hook/Pod/shop/web.json", REVIEW, None),
        ("hook/Pod/shop/web.json", STATUS, None),
        (
            "hook/Pod/shop/web/more.json",
            REVIEW,
            "too deep a path: WEBHOOK/KIND/NAMESPACE/NAME is the longest",
        ),
        (
            "hook/Pod/shop/web/more.json",
            STATUS,
            "too deep a path: WEBHOOK/KIND/NAMESPACE/NAME is the longest",
        ),
        ("hook.json", {"kind": "Pod"}, "an AdmissionReview is expected here, not a Pod"),
        ("hook.json", {"kind": "AdmissionReview"}, "this AdmissionReview has no `response`"),
        (
            "hook.json",
            {**REVIEW, "response": ["allowed"]},
            "this AdmissionReview has no `response`",
        ),
        ("hook.json", {**REVIEW, "request": ["CREATE"]}, "`request` is no object"),
        ("hook.json", {**REVIEW, "request": None}, None),
    ],
)
def test_what_is_an_answer(tmp_path: Path, name: str, document: Json, problem: str | None) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, {"apiVersion": "admission.k8s.io/v1", **document})
    found = recorded_answers(str(tmp_path))
    assert [(one.message, one.file) for one in found.problems] == (
        [] if problem is None else [(problem, str(file))]
    )
    assert list(found.answers) == ([] if problem else ["hook"])


def test_no_folder(tmp_path: Path) -> None:
    (problem,) = recorded_answers(str(tmp_path / "gone")).problems
    assert (problem.file, problem.message) == (str(tmp_path / "gone"), "not a folder")
