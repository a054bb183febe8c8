"""Which warnings reach a client, and what a decision becomes."""

from __future__ import annotations

import pytest

from celadon.admission.decision_source import validation
from celadon.admission.request import Operation, error_name
from celadon.admission.verdict import (
    Action,
    Cause,
    Decision,
    Folder,
    RecordedWarning,
    recorded_warnings,
)
from tests.admission.building import config_map, request

VALIDATION = validation(0)

WARNINGS = [
    ("kept in order", ["b", "a"], ["b", "a"]),
    ("empty", ["", "a"], ["a"]),
    ("newline", ["a\nb"], []),
    ("tab", ["a\tb"], []),
    ("C1 control", ["a\x85b"], []),
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
