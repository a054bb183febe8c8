"""A `vendor` folder out of those of other projects."""

from __future__ import annotations

from pathlib import Path

from tools.borrowed_modules import borrow


def project(folder: Path, modules: str, *files: str) -> Path:
    for name in ("modules.txt", *files):
        (folder / "vendor" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "vendor" / name).write_text(modules if name == "modules.txt" else name)
    return folder


def test_a_folder_of_two(tmp_path: Path) -> None:
    one = project(
        tmp_path / "one",
        "# a.io/x v1.0.0\n## explicit; go 1.20\na.io/x\na.io/x/p\n"
        "# a.io/other v1.0.0\n## explicit\na.io/other\n"
        "# a.io/x => b.io/x v9\n",
        "a.io/x/x.go",
        "a.io/x/p/p.go",
        "a.io/x/p/embedded/text",
        "a.io/other/o.go",
    )
    two = project(
        tmp_path / "two",
        "# a.io/x v1.1.0\n## explicit; go 1.22\na.io/x\na.io/x/q\n# b.io/y v2.0.0\nb.io/y\n",
        "a.io/x/later.go",
        "a.io/x/q/q.go",
        "b.io/y/y.go",
    )
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "go.mod").write_text(
        "module a.io/mine\n\ngo 1.22\n\nrequire (\n\ta.io/x v1.1.0\n\tb.io/y v2.1.0 // indirect\n"
        "\tc.io/z v1.0.0\n)\n"
    )
    assert borrow(mine, [one, two]) == [
        "b.io/y: v2.0.0 in place of v2.1.0",
        "c.io/z: nobody has it",
    ]
    assert (mine / "vendor" / "modules.txt").read_text() == (
        "# a.io/x v1.1.0\n## explicit; go 1.22\na.io/x\na.io/x/p\na.io/x/q\n"
        "# b.io/y v2.1.0\n## explicit; go 1.16\nb.io/y\n"
        "# c.io/z v1.0.0\n## explicit\n"
    )
    folder = mine / "vendor"
    there = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
    assert there == {
        *("modules.txt", "a.io/x/later.go", "a.io/x/p/p.go", "a.io/x/q/q.go", "b.io/y/y.go"),
        "a.io/x/p/embedded/text",
    }
