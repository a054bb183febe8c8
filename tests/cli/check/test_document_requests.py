"""What a request of the command carries besides the object: options, and who asks."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import pytest

from celadon.cli.check.check_options import wrong_calls
from celadon.cli.check.document_requests import user_info
from tests.cli.files import binding, policy, run, write

MAPS = [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]}]
SHOWN = "'%s'.format([request.options])"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), '"fieldManager":"kubectl-create", "fieldValidation":"Strict", "kind":"CreateOptions"'),
        (("--operation", "UPDATE", "--old", "map.json"), '"fieldManager":"kubectl-replace", '),
        (("--dry-run",), '"dryRun":["All"], "fieldManager":"kubectl-create"'),
        (("--operation", "DELETE"), '"kind":"DeleteOptions"'),
    ],
)
def test_options_are_those_of_kubectl(
    words: Sequence[str],
    options: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shows = policy(expression="false", rules=MAPS)
    shows["spec"]["validations"][0]["messageExpression"] = SHOWN
    write(Path("policies.json"), shows, binding())
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "n"}}
    write(Path("map.json"), obj)
    code, out, _ = run(capsys, "check", "-f", "policies.json", *words, "map.json")
    assert code == 1
    assert options in " ".join(out.split())


@pytest.mark.parametrize(
    ("name", "groups", "expected"),
    [
        ("jane", (), ("system:authenticated",)),
        ("jane", ("devs",), ("devs", "system:authenticated")),
        ("jane", ("system:unauthenticated",), ("system:unauthenticated",)),
        ("system:anonymous", (), ("system:unauthenticated",)),
        (
            "system:serviceaccount:ns:a",
            (),
            ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"),
        ),
    ],
)
def test_groups_that_come_by_themselves(
    name: str, groups: Sequence[str], expected: tuple[str, ...]
) -> None:
    assert tuple(user_info(name, groups).groups) == expected


@pytest.mark.parametrize(
    ("given", "is_there", "text"),
    [
        ({}, True, ""),
        ({"webhook_service": ["a/b=c"], "call_webhooks": True}, True, ""),
        ({"webhook_service": ["a/b=c"], "call_conversion_webhooks": True}, True, ""),
        (
            {"webhook_service": ["a/b=c"]},
            True,
            "`--webhook-service` goes with `--call-webhooks` or `--call-conversion-webhooks`",
        ),
        (
            {"call_conversion_webhooks": True},
            False,
            "`--call-conversion-webhooks` needs a package more: pip install 'celadon[serve]'",
        ),
        ({}, False, ""),
    ],
)
def test_options_about_calls(
    given: dict[str, object], is_there: bool, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: is_there or None)
    nothing = {"webhook_service": [], "call_webhooks": False, "call_conversion_webhooks": False}
    assert wrong_calls(Namespace(**nothing | given), "call_webhooks") == text
