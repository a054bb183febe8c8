"""`celadon library`: policies to start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.files import run


def test_a_list_has_everything_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "library", "list")
    assert (code, err) == (0, "")
    head, *rows = out.splitlines()
    assert head.split() == ["NAME", "TITLE", "TOPICS", "KUBERNETES"]
    (row,) = (row for row in rows if row.startswith("ingress-tls "))
    assert [cell.strip() for cell in row.split("  ") if cell] == [
        "ingress-tls",
        "Ingresses serve TLS for every host",
        "ingress, network",
        "1.30 and later",
    ]


def test_a_list_of_topics(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "library", "list", "ingress", "availability")
    assert code == 0
    assert [row.split()[0] for row in out.splitlines()] == [
        "NAME",
        "disruption-budget-allows-drains",
        "ingress-hosts",
        "ingress-tls",
        "replica-minimum",
    ]


def test_a_page_with_its_policy(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "library", "show", "ingress-tls")
    assert (code, err) == (0, "")
    assert out.startswith("ingress-tls: Ingresses serve TLS for every host\n")
    assert "## Why" in out
    assert "kind: ValidatingAdmissionPolicy\n" in out
    assert out.endswith("  celadon check -f policies/ingress-tls MANIFESTS\n")


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
    code, _, err = run(capsys, "library", "add", "ingress-tls", "-o", str(tmp_path / "file"))
    assert code == 2
    assert "cannot be written: not a directory" in err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["show"], "`show` needs a name"),
        (["add"], "`add` needs a name"),
        (["show", "ingres-tls"], "no policy `ingres-tls` in the library, did you mean"),
        (["list", "ingres"], "no topic `ingres` in the library, did you mean"),
        (["list", "-o", "policies"], "`--output-dir` belongs to `add`"),
    ],
)
def test_wrong_usage(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "library", *words)
    assert (code, out) == (2, "")
    assert complaint in err
