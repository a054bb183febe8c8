"""`celadon library`: policies to start from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from celadon.cli.library import library
from tests.cli.files import run


def test_a_list_has_everything_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "library", "list")
    assert (code, err) == (0, "")
    head, *rows = out.splitlines()
    assert head.split() == ["NAME", "TITLE", "ALSO", "KUBERNETES"]
    (row,) = (row for row in rows if row.startswith("  ingress-tls "))
    assert [cell.strip() for cell in row.split("  ") if cell] == [
        "ingress-tls",
        "Ingresses serve TLS for every host",
        "network",
        "1.30 and later",
    ]
    assert len([row for row in rows if not row.endswith(":")]) == len(library()) >= 42


def test_a_list_of_topics(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "library", "list", "storage", "namespaces")
    assert code == 0
    assert [row.split()[0] for row in out.splitlines()] == [
        "NAME",
        "namespaces:",
        "debug-container-guard",
        "default-namespace-guard",
        "exec-guard",
        "namespace-deletion-guard",
        "namespace-owner",
        "namespace-pod-security",
        "reserved-namespace-names",
        "pods:",
        "no-host-path",
        "restricted-volume-types",
        "storage:",
        "storage-classes",
        "volume-access-modes",
        "volume-claim-size",
    ]


def test_a_list_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "library", "list", "storage", "-o", "json")
    assert code == 0
    listed = {one["name"]: one for one in json.loads(out)}
    assert listed["storage-classes"]["params"] == {"classes": "['fast', 'standard']"}
    assert listed["storage-classes"]["setFirst"] == ["classes"]
    assert listed["volume-claim-size"]["since"] == "1.30"
    assert 0 < listed["volume-claim-size"]["worstCost"] < 10_000_000
    assert "kind: ValidatingAdmissionPolicy" in listed["volume-claim-size"]["policy"]


def test_a_page_tells_params_and_costs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "library", "show", "storage-classes")
    assert code == 0
    lines = out.splitlines()
    assert "param `classes`: ['fast', 'standard']; set it first" in lines
    assert "releases: Kubernetes 1.30 and later" in lines
    assert any(
        re.match(r"cost: at most [\d,]+ of 10,000,000 for an object of 256 KiB", one)
        for one in lines
    )


def test_a_topic_is_added_as_a_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "library", "add", "storage", "--output-dir", str(tmp_path))
    assert code == 0
    assert (tmp_path / "volume-claim-size" / "volume-claim-size.yaml").is_file()
    assert "set first: the variable `classes` in " in out


def test_a_page_with_its_policy(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "library", "show", "ingress-tls")
    assert (code, err) == (0, "")
    assert out.startswith("ingress-tls: Ingresses serve TLS for every host\n")
    assert "## Why" in out
    assert "kind: ValidatingAdmissionPolicy\n" in out
    assert out.splitlines()[-3:] == [
        "  celadon library add ingress-tls",
        "  celadon check -f policies/ingress-tls MANIFESTS",
        "  celadon audit --library ingress-tls DUMP",
    ]


def test_what_is_added_works_at_once_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "library", "add", "storage-classes", "storage-classes")
    assert (code, err) == (0, "")
    folder = Path("policies/storage-classes")
    names = ["README.md", "storage-classes.policytest.yaml", "storage-classes.yaml"]
    assert out.splitlines() == [
        *(f"written: {folder / name}" for name in names),
        f"set first: the variable `classes` in {folder / names[2]}, and the test beside it",
        "next:",
        "  celadon test policies",
    ]
    assert run(capsys, "test", "policies")[0] == 0
    (folder / "README.md").unlink()
    code, out, err = run(capsys, "library", "add", "ingress-tls", "storage-classes")
    assert (code, out) == (2, "")
    assert "is there already: nothing was written" in err
    assert not Path("policies/ingress-tls").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = run(
        capsys, "library", "add", "ingress-tls", "--output-dir", str(tmp_path / "file")
    )
    assert code == 2
    assert "cannot be written: not a directory" in err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["show"], "`show` needs a name"),
        (["add"], "`add` needs a name"),
        (["show", "ingres-tls"], "no policy `ingres-tls` in the library, did you mean"),
        (["list", "ingres"], "no topic `ingres` in the library, did you mean"),
        (["list", "--output-dir", "policies"], "`--output-dir` belongs to `add`"),
        (["add", "ingress-tls", "-o", "json"], "`--output` belongs to `list` and `show`"),
    ],
)
def test_wrong_usage(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "library", *words)
    assert (code, out) == (2, "")
    assert complaint in err
