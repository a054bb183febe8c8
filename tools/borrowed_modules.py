"""A `vendor` folder for a Go project without one, of what the `vendor` folders of others hold:
`python -m tools.borrowed_modules PROJECT OTHER ...`.

For machines that reach no module proxy. Where nobody has the version that the project wants, the
first other one is taken, and said. What several have of a module is put together: each has only
the packages that it needs itself. A folder of single packages (`vendor/modules.txt` and below it)
can be named, too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_REQUIRED: Final = re.compile(r"^\s*(?:require )?([\w./~-]+\.[\w./~-]+) (v\S+)", re.M)
_LANGUAGE: Final = re.compile(r"go (\S+)")


@dataclass(slots=True)
class Copy:
    """What one project has of a module. `language` is the version of Go that the module names."""

    module: str
    version: str
    folder: Path
    packages: list[str] = field(default_factory=list)
    language: str = "1.16"


def required(go_mod: str) -> Mapping[str, str]:
    """Versions of the modules that a project needs."""
    return dict(_REQUIRED.findall(go_mod))


def copies(project: Path) -> Iterator[Copy]:
    """All that are in a project's `vendor`."""
    copy: Copy | None = None
    for line in (project / "vendor" / "modules.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            language = _LANGUAGE.search(line)
            if copy is not None and language is not None:
                copy.language = language[1]
        elif line.startswith("# "):
            if copy is not None:
                yield copy
            words = line[2:].split(" => ")[0].split()
            copy = Copy(words[0], words[1], project / "vendor") if len(words) == 2 else None
        elif copy is not None:
            copy.packages.append(line.strip())
    if copy is not None:
        yield copy


def borrow(project: Path, others: Sequence[Path]) -> list[str]:
    """Make the folder; what is not as the project wants it is returned, a line each."""
    wanted = required((project / "go.mod").read_text(encoding="utf-8"))
    found: dict[str, list[Copy]] = {}
    for other in others:
        for copy in copies(other):
            if copy.packages and copy.module in wanted:
                found.setdefault(copy.module, []).append(copy)
    folder = project / "vendor"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    listed, notes = [], []
    for module, version in sorted(wanted.items()):
        known = sorted(found.get(module, ()), key=lambda copy: copy.version != version)
        listed.append(f"# {module} {version}")
        if not known:
            listed.append("## explicit")
            notes.append(f"{module}: nobody has it")
            continue
        if known[0].version != version:
            notes.append(f"{module}: {known[0].version} in place of {version}")
        listed.append(f"## explicit; go {known[0].language}")
        listed += _put_together(folder, known)
    (folder / "modules.txt").write_text("\n".join(listed) + "\n", encoding="utf-8")
    return notes


def _put_together(folder: Path, known: Sequence[Copy]) -> list[str]:
    """The packages that are there then: of the first copy, and others' that it lacks."""
    packages: dict[str, None] = {}
    for copy in known:
        missing = [one for one in copy.packages if one not in packages]
        for package in missing:
            source = copy.folder / package
            if source.is_dir():
                _link(source, folder / package, package, copy.packages)
                packages[package] = None
    return sorted(packages)


def _link(source: Path, target: Path, package: str, packages: Sequence[str]) -> None:
    """Files of a package, and folders in it that are no packages: they may be embedded."""
    target.mkdir(parents=True, exist_ok=True)
    for one in source.iterdir():
        place = target / one.name
        below = f"{package}/{one.name}"
        if place.exists():
            continue
        if one.is_file():
            os.link(one, place)
        elif not any(other == below or other.startswith(f"{below}/") for other in packages):
            shutil.copytree(one, place, copy_function=os.link)


def main(words: Sequence[str] | None = None) -> int:
    """Make the folder and say what is not as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("others", type=Path, nargs="+")
    options = parser.parse_args(words)
    for note in borrow(options.project, options.others):
        sys.stdout.write(f"{note}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
