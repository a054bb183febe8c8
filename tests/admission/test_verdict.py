"""Which warnings reach a client, and what a decision becomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from celadon.admission.decision_source import validation
from celadon.admission.request import Operation, error_name
from celadon.admission.verdict import (
    Action,
    Cause,
    Decision,
    Folder,
    Note,
    Outcome,
    RecordedWarning,
    recorded_warnings,
)
from celadon.kube import GroupResource, status
from tests.admission.building import config_map, request

VALIDATION = validation(0)

WARNINGS = [
    ("kept in order", ["b", "a"], ["b", "a"]),
    ("empty", ["", "a"], ["a"]),
    ("newline", ["a\nb"], []),
    ("tab", ["a\tb"], []),
    ("C1 control", ["a\x85b"], []),
    ("delete", ["a\x7fb"], []),
    ("last control", ["a\x9fb"], []),
    ("no-break space", ["a\xa0b"], ["a\xa0b"]),
    ("spaces", [" a b "], [" a b "]),
    ("half a pair", ["a\ud800b", "a\udfffb"], []),
    ("beside the pairs", ["a\ud7ffb", "a\ue000b"], ["a\ud7ffb", "a\ue000b"]),
    ("other scripts", ["ä€😀"], ["ä€😀"]),
    ("at the limit", ["a" * 4000, "b" * 96], ["a" * 4000, "b" * 96]),
    ("over the limit", ["a" * 4000, "b" * 97], ["a" * 256, "b" * 97]),
    ("later ones are cut too", ["a" * 4096, "b", "c" * 300], ["a" * 256, "b", "c" * 256]),
    (
        "a dropped one may come back cut",
        ["x" * 300 + "\n", "a" * 4096, "b"],
        ["x" * 256, "a" * 256, "b"],
    ),
]


@pytest.mark.parametrize(
    ("texts", "expected"), [row[1:] for row in WARNINGS], ids=[row[0] for row in WARNINGS]
)
def test_warnings(texts: list[str], expected: list[str]) -> None:
    assert sent(texts) == expected


def sent(texts: list[str]) -> list[str]:
    """What reaches a client of warnings with these texts."""
    given = (RecordedWarning(text, (decision(),)) for text in dict.fromkeys(texts))
    return [warning.text for warning in recorded_warnings(given)]


def test_cut_warnings_stop_at_the_limit_too() -> None:
    texts = [f"{i:03}" + "x" * 400 for i in range(40)]
    kept = sent(texts)
    assert len(kept) == 16
    assert all(len(text) == 256 for text in kept)


def decision(cause: Cause = Cause.VALIDATION, *actions: str) -> Decision:
    return Decision("p", "b", 0, VALIDATION, Action.DENY, "text", cause=cause, actions=actions)


def test_configuration_errors_deny_whatever_the_actions_are() -> None:
    folder = Folder(request())
    folder.add(decision(Cause.CONFIGURATION, "Warn"))
    verdict = folder.verdict()
    assert not verdict.allowed
    assert verdict.warnings == ()


def test_admissions_are_kept_but_do_nothing() -> None:
    folder = Folder(request())
    folder.add(Decision("p", "b", 0, VALIDATION, Action.ADMIT, "ignored", actions=("Deny",)))
    verdict = folder.verdict()
    assert verdict.allowed
    assert verdict.decisions[0].message == "ignored"


def test_only_the_first_failure_is_recorded_for_audit() -> None:
    folder = Folder(request())
    folder.add(decision(Cause.VALIDATION, "Audit"))
    folder.add(Decision("p", "b", 1, VALIDATION, Action.DENY, "second", actions=("Audit",)))
    (text,) = folder.verdict().audit_annotations.values()
    assert '"message":"text"' in text


def test_annotations_need_a_qualified_key() -> None:
    folder = Folder(request())
    folder.annotate("p", {"good": ["a", "b", "a"], "not good": ["c"]})
    assert folder.verdict().audit_annotations == {"p/good": "a, b"}


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (request(name="n"), "n"),
        (request(name=""), "c"),
        (request({"metadata": {"generateName": "g-"}}, name=""), "g-"),
        (request({"metadata": {}}, name=""), "Unknown"),
        (request(operation=Operation.DELETE, old_object=config_map(), name=""), "Unknown"),
        (request({"kind": "X"}, Operation.CONNECT, name=""), "Unknown/errorGettingName"),
    ],
)
def test_names_in_error_texts(asked: object, name: str) -> None:
    assert error_name(asked) == name  # type: ignore[arg-type]  # rows are requests


def test_a_denial_knows_its_decision() -> None:
    folder = Folder(request())
    folder.add(decision(Cause.VALIDATION, "Warn"))
    second, third = decision(Cause.CONDITION, "Audit", "Deny"), decision(Cause.ERROR, "Deny")
    folder.add(second)
    folder.add(third)
    verdict = folder.verdict()
    assert verdict.denial is second
    assert verdict.message == (
        "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied "
        "request: text"
    )
    assert [one.denies for one in verdict.decisions] == [False, True, True]
    assert folder.decisions_from(1) == [second, third]
    assert folder.count == 3


def test_an_error_of_the_policy_itself_names_no_binding() -> None:
    alone = Decision("p", "", 0, VALIDATION, Action.DENY, "why", cause=Cause.CONFIGURATION)
    folder = Folder(request())
    folder.add(alone)
    assert folder.verdict().message.endswith("ValidatingAdmissionPolicy 'p' denied request: why")


def test_an_api_error_ends_it_and_has_no_decision() -> None:
    folder = Folder(request())
    folder.add(decision(Cause.VALIDATION, "Deny", "Warn"))
    verdict = folder.verdict(status.not_found(GroupResource("", "namespaces"), "ns"))
    assert (verdict.code, verdict.message) == (404, 'namespaces "ns" not found')
    assert verdict.denial is None
    assert not verdict.allowed
    assert len(verdict.warnings) == len(verdict.decisions) == 1


def test_one_warning_may_come_from_several_decisions() -> None:
    folder = Folder(request())
    twice = [decision(Cause.VALIDATION, "Warn") for _ in range(2)]
    for one in twice:
        folder.add(one)
    (warning,) = folder.verdict().recorded
    assert list(warning.decisions) == twice


def test_notes_are_kept_when_somebody_asks() -> None:
    note = Note(Outcome.EXEMPT)
    silent, asked = Folder(request()), Folder(request(), [])
    for folder in (silent, asked):
        folder.note(note)
    assert silent.verdict().notes == ()
    assert asked.verdict().notes == (note,)
    assert Folder(request()).verdict().code == 200


@pytest.mark.parametrize(
    ("given", "reason", "code"),
    [
        ("", "Invalid", 422),
        ("Invalid", "Invalid", 422),
        ("Forbidden", "Forbidden", 403),
        ("Unauthorized", "Unauthorized", 401),
        ("RequestEntityTooLarge", "RequestEntityTooLarge", 413),
        ("NotFound", "NotFound", 422),
    ],
)
def test_reasons_have_codes(given: str, reason: str, code: int) -> None:
    folder = Folder(request())
    folder.add(replace(decision(Cause.VALIDATION, "Deny"), reason=given))
    verdict = folder.verdict()
    assert (verdict.code, (verdict.status or {})["reason"]) == (code, reason)
    assert (verdict.status or {})["code"] == code


def test_the_status_of_a_denial() -> None:
    folder = Folder(request())
    folder.add(decision(Cause.VALIDATION, "Deny"))
    text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: text"
    assert folder.verdict().status == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'configmaps "c" is forbidden: {text}',
        "reason": "Invalid",
        "details": {"name": "c", "kind": "configmaps", "causes": [{"message": text}]},
        "code": 422,
    }


def test_what_is_recorded_for_audit() -> None:
    folder = Folder(request())
    failed = replace(decision(Cause.VALIDATION, "Audit", "Warn"), index=3)
    folder.add(failed)
    verdict = folder.verdict()
    assert verdict.audit_annotations == {
        "validation.policy.admission.k8s.io/validation_failure": '[{"message":"text","policy":"p",'
        '"binding":"b","expressionIndex":3,"validationActions":["Audit","Warn"]}]'
    }
    assert verdict.warnings == (
        "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': text",
    )


def test_words_of_causes() -> None:
    """They stand in the decision log of the webhook."""
    assert [one.value for one in Cause] == [
        "validation",
        "match condition error",
        "evaluation error",
        "configuration error",
        "audit annotation error",
    ]
