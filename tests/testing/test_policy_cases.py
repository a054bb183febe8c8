"""Cases of policies in code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.testing import CaseFailed, ManifestError, PolicyCases
from tests.cli.files import binding, config_map, policy, write

OK, NO = config_map(x="ok"), config_map(x="no")
LIMIT = PolicyCases(policy(), binding())


@pytest.mark.parametrize(
    ("expect", "fields"),
    [
        ("admit", {"object": OK}),
        ("deny", {"object": NO}),
        ({"deny": {"contains": "failed expression"}}, {"object": NO}),
        ("noMatch", {"object": {**NO, "kind": "Secret", "data": None}}),
        ("deny", {"object": NO, "old_object": OK, "operation": "UPDATE"}),
        ("deny", {"object": NO, "kubernetes_versions": ["1.30", "1.36"]}),
    ],
)
def test_as_expected(expect: Any, fields: dict[str, Any]) -> None:
    LIMIT.expect(expect, **fields)


def test_each_version_has_a_result() -> None:
    found = LIMIT.run("admit", object=OK, kubernetes_versions=["1.30", "1.36"])
    assert [one.version for one in found] == ["1.30", "1.36"]


def test_not_as_expected() -> None:
    with pytest.raises(CaseFailed) as caught:
        LIMIT.expect("admit", object=NO)
    lines = str(caught.value).splitlines()
    assert lines[1:3] == ["  expected verdict: admit", "            actual: deny"]
    assert "policy `limit` denies" in lines[3]
    assert [one.is_bad for one in caught.value.results] == [True]


def test_what_means_nothing_fails() -> None:
    with pytest.raises(CaseFailed, match="no-binding"):
        PolicyCases(policy()).expect("noMatch", object=OK)


def test_files_and_shared_fields(tmp_path: Path) -> None:
    write(tmp_path / "limit.json", policy(), binding())
    cases = PolicyCases(
        "limit.json", folder=tmp_path, objects={"ok": OK}, defaults={"object": "ok"}
    )
    cases.expect("admit")
    cases.expect("deny", patch={"data": {"x": "no"}})
    PolicyCases(tmp_path / "limit.json").expect("admit", object=OK)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"object": OK, "operatoin": "UPDATE"},
            "`operatoin` is no field of `cases[0]`, did you mean",
        ),
        ({"object": "nowhere.yaml"}, "no file `nowhere.yaml`"),
        ({}, "no `object`"),
    ],
)
def test_what_cannot_be_read(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        LIMIT.run("admit", **fields)
    assert text in str(caught.value)
