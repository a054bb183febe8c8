"""One plugin's files: what is in force, and when it is another version."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from celadon.admission.static_manifests import STATIC_PLUGINS, ManifestError
from celadon.apiserver.operation.metric_table import exposition
from celadon.apiserver.operation.webhook_counts import StaticReloads
from celadon.apiserver.static_admission import POLL_SECONDS, StaticSource
from tests.apiserver.static_admission.manifests import refusing, rule, write

PODS = rule("pods")
PLUGIN = "ValidatingAdmissionPolicy"


class Case:
    """A folder, a clock, and what was counted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 0.0
        self.reloads = StaticReloads(lambda: self.now, "host")
        self.source = StaticSource(
            STATIC_PLUGINS[PLUGIN], str(folder), "1.36", self.reloads, lambda: self.now
        )

    def names(self) -> list[str]:
        return [one.name for one in self.source.objects.objects[::2]]

    def look(self) -> None:
        asyncio.run(self.source.look())

    def counted(self, status: str) -> float:
        text = exposition(self.reloads.families())
        lines = [
            one for one in text.splitlines() if "_total{" in one and f'status="{status}"' in one
        ]
        return sum(float(one.rpartition(" ")[2]) for one in lines)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    write(tmp_path, "a.yaml", refusing("a.static.k8s.io", PODS))
    found = Case(tmp_path)
    found.source.load()
    return found


def test_what_is_there_at_the_start(case: Case) -> None:
    assert case.names() == ["a.static.k8s.io"]
    assert case.counted("success") == 1


def test_a_start_that_fails(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", refusing("a", PODS))
    with pytest.raises(ManifestError) as wrong:
        Case(tmp_path).source.load()
    file = tmp_path / "a.yaml"
    assert str(wrong.value) == (
        f'failed to load static policy manifests from "{tmp_path}": error loading {file}: "a" in '
        f'file "{file}" must have a name ending with ".static.k8s.io"'
    )


def test_files_that_come_and_go(case: Case) -> None:
    write(case.folder, "b.yaml", refusing("b.static.k8s.io", PODS))
    case.look()
    assert case.names() == ["a.static.k8s.io", "b.static.k8s.io"]
    for file in case.folder.iterdir():
        file.unlink()
    case.look()
    assert case.names() == []
    assert case.counted("success") == 3


def test_a_broken_version_leaves_the_old_one(case: Case) -> None:
    write(case.folder, "b.yaml", refusing("b", PODS))
    before = case.source.objects
    case.look()
    assert case.source.objects is before
    case.look()
    assert case.counted("failure") == 1, "nobody looks at the same files twice"
    case.now += POLL_SECONDS
    case.look()
    assert (case.counted("failure"), case.counted("success")) == (2, 1)
    write(case.folder, "b.yaml", refusing("b.static.k8s.io", PODS))
    case.look()
    assert case.names() == ["a.static.k8s.io", "b.static.k8s.io"]


def test_the_same_content_is_no_reload(case: Case) -> None:
    before = case.source.objects
    write(case.folder, "a.yaml", refusing("a.static.k8s.io", PODS))
    case.look()
    assert case.source.objects is before
    assert case.counted("success") == 1
