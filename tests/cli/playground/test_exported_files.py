"""A state as files: they mean the same, and its test passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.playground.judging import exported_files
from tests.cli.files import run
from tests.cli.playground.states import POLICY, PROPERTIES, deployment, state

UPDATE = POLICY.replace("object.spec.replicas <= 5", "oldObject.spec.replicas == 1")
USER = "username: alice\ngroups: [ops]\nuid: a\nextra: {scopes: [read, write]}\n"
NAMED = POLICY.replace(
    "object.spec.replicas <= 5", "request.userInfo.extra['scopes'] == ['read', 'write'] && "
    "request.namespace == 'shop' && request.userInfo.uid == 'a'"
)  # fmt: skip
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
WARNING = POLICY.replace("[Deny]", "[Warn]")


@pytest.mark.parametrize(
    ("panes", "members", "expected"),
    [
        ({"policy": POLICY, "object": deployment(1)}, {}, "expect: admit"),
        ({"policy": POLICY, "object": deployment(9)}, {}, "deny: at most five replicas"),
        ({"policy": WARNING, "object": deployment(9)}, {}, "warn: at most five replicas"),
        (
            {"policy": POLICY, "object": deployment(1), "properties": PROPERTIES, "before": POLICY},
            {},
            "expect: admit",
        ),
        ({"policy": POLICY, "object": deployment(9)}, {"operation": "DELETE"}, "noMatch"),
        (
            {"policy": UPDATE, "object": deployment(1), "oldObject": deployment(2)},
            {"operation": "UPDATE", "dryRun": True},
            "deny: at most five",
        ),
        (
            {"policy": NAMED, "object": deployment(1), "user": USER, "namespace": NAMESPACE},
            {"release": "1.33"},
            "expect: admit",
        ),
    ],
)
def test_the_test_passes(
    panes: dict[str, str],
    members: dict[str, Any],
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = exported_files(state(panes=panes, **members))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert expected in files["policy.policytest.yaml"]
    code, out, err = run(capsys, "test", str(tmp_path))
    assert code == 0, (out, err)


DENIED = {"deny": "at most five replicas"}


@pytest.mark.parametrize(
    ("panes", "members", "case"),
    [
        ({}, {}, {"object": "object.yaml", "expect": DENIED}),
        ({}, {"dryRun": True}, {"object": "object.yaml", "dryRun": True, "expect": DENIED}),
        (
            {"oldObject": deployment(2)},
            {"operation": "UPDATE"},
            {
                "object": "object.yaml",
                "oldObject": "old-object.yaml",
                "operation": "UPDATE",
                "expect": DENIED,
            },
        ),
        (
            {"oldObject": deployment(2)},
            {"operation": "DELETE"},
            {"object": "old-object.yaml", "operation": "DELETE", "expect": "noMatch"},
        ),
        (
            {},
            {"subresource": "status"},
            {"object": "object.yaml", "subresource": "status", "expect": "noMatch"},
        ),
        (
            {"user": "username: alice\n", "namespace": NAMESPACE},
            {},
            {
                "object": "object.yaml",
                "namespace": "shop",
                "user": "alice",
                "groups": ["system:authenticated"],
                "expect": DENIED,
            },
        ),
        (
            {"user": USER},
            {},
            {
                "object": "object.yaml",
                "user": "alice",
                "groups": ["ops", "system:authenticated"],
                "uid": "a",
                "extra": {"scopes": ["read", "write"]},
                "expect": DENIED,
            },
        ),
    ],
)
def test_members_of_the_case(
    panes: dict[str, str], members: dict[str, Any], case: dict[str, object]
) -> None:
    written = state(panes={"policy": POLICY, "object": deployment(9), **panes}, **members)
    (file,) = yaml.safe_load_all(exported_files(written)["policy.policytest.yaml"])
    assert file["cases"] == [{"name": "as in the playground", **case}]


@pytest.mark.parametrize(
    ("panes", "names"),
    [
        ({"policy": POLICY}, ["policy.yaml"]),
        ({"policy": "a: [", "object": "b: ["}, ["policy.yaml", "object.yaml"]),
        ({"expression": "1", "variables": "a: 1"}, ["variables.yaml", "expression.cel"]),
        ({}, []),
    ],
)
def test_what_is_no_test(panes: dict[str, str], names: list[str]) -> None:
    mode = "expression" if "expression" in panes else "validating"
    assert sorted(exported_files(state(mode=mode, panes=panes))) == sorted(names)


def test_policies_and_bindings_are_one_file() -> None:
    policy, binding = POLICY.split("---\n")
    files = exported_files(state(panes={"policy": policy, "binding": binding}))
    assert files["policy.yaml"] == POLICY
