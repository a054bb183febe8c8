"""Which sources a fleet has, and what is wrong with a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celadon.cli.audit.fleet_parts import SCHEMA, Source, read_fleet
from tests.cli.audit.dumps import Json
from tests.cli.audit.fleets import written_fleet
from tests.paths import ROOT


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    file = written_fleet(
        tmp_path,
        [
            {"name": "a", "dumps": ["x.jsonl", "s3://bucket/a"]},
            {"name": "b", "context": "prod"},
            {"name": "c", "kubeconfig": "c.conf"},
            {"name": "d", "etcdSnapshot": "d.db"},
        ],
    )
    assert read_fleet(str(file)) == (
        Source("a", (str(tmp_path / "x.jsonl"), "s3://bucket/a")),
        Source("b", context="prod"),
        Source("c", kubeconfig=str(tmp_path / "c.conf")),
        Source("d", snapshot=str(tmp_path / "d.db")),
    )


@pytest.mark.parametrize(
    ("sources", "wrong"),
    [
        ([], "`sources` must not be empty"),
        ([{"dumps": ["a"]}], "`sources[0]` has no `name`"),
        ([{"name": "a"}], "source `a` must be one of dumps, an `etcdSnapshot`, a cluster"),
        (
            [{"name": "a", "dumps": ["a"], "context": "b"}],
            "source `a` must be one of dumps, an `etcdSnapshot`, a cluster",
        ),
        (
            [{"name": "a", "dumps": ["a"]}, {"name": "a", "dumps": ["b"]}],
            "a source `a` is there already",
        ),
        (
            [{"name": "a", "dump": ["a"]}],
            "`dump` is no field of `sources[0]`, did you mean `dumps`?",
        ),
    ],
)
def test_what_is_wrong(tmp_path: Path, sources: list[Json], wrong: str) -> None:
    found = read_fleet(str(written_fleet(tmp_path, sources)))
    assert isinstance(found, list)
    assert [one.message for one in found] == [wrong]
    assert found[0].line > 0


@pytest.mark.parametrize("text", ["", "a: 1\n", "kind: Fleet\napiVersion: v1\n"])
def test_other_documents(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.yaml").write_text(text)
    found = read_fleet(str(tmp_path / "f.yaml"))
    assert isinstance(found, list)
    assert found


def test_the_published_schema() -> None:
    published = (ROOT / "docs/schemas/fleet.json").read_text(encoding="utf-8")
    assert json.loads(published) == SCHEMA
