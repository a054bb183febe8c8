"""All at once, and the first no."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.admission.webhooks.dispatchers import ValidatingPhase
from tests.admission.building import request
from tests.admission.webhooks.hooking import (
    REFUSED,
    WORLD,
    answer,
    as_json,
    hooks,
    new_uid,
    webhook,
)


def phase(*given: dict[str, Any], asked: Any = None) -> ValidatingPhase:
    return ValidatingPhase(hooks(*given), asked or request(), WORLD, new_uid, as_json)


def refused(made: ValidatingPhase) -> tuple[int, str] | None:
    return None if made.refusal is None else (made.refusal.code, str(made.refusal))


def test_all_are_asked_and_one_no_is_enough() -> None:
    made = phase(webhook(), webhook("b.hooks.example.com"), webhook("c.hooks.example.com"))
    first, second, third = made.calls
    made.answer(third, answer(third, warnings=["w"]))
    made.answer(second, answer(second, allowed=False, status={"message": "late"}))
    made.answer(first, answer(first, allowed=False, status={"message": "later"}))
    assert made.refusal is not None
    assert str(made.refusal) == 'admission webhook "b.hooks.example.com" denied the request: late'
    assert made.notes.warnings == ["w"]
    assert [(one.rejected, one.code) for one in made.notes.calls] == [
        (False, 200),
        (True, 400),
        (True, 400),
    ]


def test_failures_are_ignored_or_told() -> None:
    made = phase(
        webhook(objectSelector={"matchLabels": {"not": "selected"}}),
        webhook("b.hooks.example.com"),
        webhook("i.hooks.example.com", failurePolicy="Ignore"),
    )
    second, ignored = made.calls
    noted = {"x.example.com/host": "why"}  # of a certificate
    made.answer(ignored, replace(REFUSED, annotations=tuple(noted.items())))
    assert refused(made) is None
    key = "failed-open.validating.webhook.admission.k8s.io/round_0_index_1"
    assert made.notes.annotations == {key: "i.hooks.example.com", **noted}
    made.answer(second, REFUSED)
    assert refused(made) == (
        500,
        'Internal error occurred: failed calling webhook "b.hooks.example.com": failed to call '
        f"webhook: {REFUSED.text}",
    )
    assert [one.failed_open for one in made.notes.calls] == [True, False]


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_hook_that_may_not_be_called_refuses_by_itself(policy: str) -> None:
    made = phase(webhook(sideEffects="Some", failurePolicy=policy), asked=request(dry_run=True))
    assert made.calls == []
    assert made.refusal is not None
    assert made.refusal.code == 400


def test_no_common_version_is_a_failed_call() -> None:
    given: dict[str, Any] = {"admissionReviewVersions": ["v7"]}
    assert phase(webhook(**given, failurePolicy="Ignore")).refusal is None
    refusal = phase(webhook(**given)).refusal
    assert refusal is not None
    assert "could not create admission objects" in str(refusal)


def test_excluded_hooks_are_noted() -> None:
    made = phase(webhook(matchConditions=[{"name": "no", "expression": "false"}]))
    assert made.calls == []
    assert [one.result.false_condition for one in made.notes.excluded] == ["no"]


def test_patches_are_not_for_validating_hooks() -> None:
    made = phase(webhook(), webhook("b.hooks.example.com", failurePolicy="Ignore"))
    first, second = made.calls
    patch: dict[str, Any] = {"patch": "W10=", "patchType": "JSONPatch", "warnings": ["w"]}
    made.answer(second, answer(second, **patch))
    assert (made.refusal, made.notes.warnings) == (None, [])
    made.answer(first, answer(first, **patch))
    assert refused(made) is not None
