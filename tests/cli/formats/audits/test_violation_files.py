"""Rows of violations in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celadon.cli.auditing.audit_findings import AuditedObject, Violation
from celadon.cli.checking.check_report import Place
from celadon.cli.formats.audits import violation_files
from celadon.cli.formats.audits.violation_files import COLUMNS, violation_file


def violation(name: str) -> Violation:
    about = AuditedObject(Place("d.jsonl", 7), "v1", "Pod", "shop", name, "uid", "9")
    rule = Place("p.yaml", 3)
    return Violation(about, "p", "b", "", "spec.validations[0]", rule, "no \u2713", "warn", False)


def test_lines(tmp_path: Path) -> None:
    file = violation_file(str(tmp_path / "v.jsonl"))
    file.write("east", violation("a"))
    file.close()
    (line,) = (tmp_path / "v.jsonl").read_text(encoding="utf-8").splitlines()
    told = json.loads(line)
    assert (told["source"], told["object"]["name"], told["message"]) == ("east", "a", "no \u2713")


@pytest.mark.parametrize("rows", [0, 1, 4, 5])
def test_groups_of_rows(tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    monkeypatch.setattr(violation_files, "_ROWS", 2)
    path = tmp_path / "v.parquet"
    file = violation_file(str(path))
    for number in range(rows):
        file.write("east", violation(f"p{number}"))
    file.close()
    found = parquet.read_table(path).to_pylist()
    assert [one["name"] for one in found] == [f"p{number}" for number in range(rows)]
    assert parquet.read_schema(path).names == ["source", *COLUMNS]
    if rows:
        assert (found[0]["line"], found[0]["error"], found[0]["effect"]) == (7, False, "warn")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for name in ("v.jsonl", "v.parquet"):
        with pytest.raises(OSError, match="No such file"):
            violation_file(str(tmp_path / "none" / name))
