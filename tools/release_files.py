"""What a release has besides its code: `python -m tools.release_files FOLDER` writes it.

`share/` holds the man page and the completions, where systems look for them below a prefix;
`celadon.cdx.json` is the bill of materials (CycloneDX 1.6): what is needed, and what the page of
the playground is made of. The same tree and SOURCE_DATE_EPOCH give the same bytes.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import yaml

from celadon import __version__
from celadon.cli.commands.completion import bash_script, every_command, fish_script, zsh_script
from tools.man_page import page

ROOT: Final = Path(__file__).resolve().parent.parent
EPOCH: Final = 1767225600
"""What SOURCE_DATE_EPOCH is where nobody says: the first second of 2026."""
_NOT_IN_THE_PAGE: Final = {"pyodide": {"ws", "@types/emscripten"}}
"""What a package asks for that runs in node only."""
_REQUIREMENT: Final = re.compile(r"([\w-]+)(?:\[[\w,-]+\])?([^;]*)(?:;(.*))?")


def shared_files() -> dict[str, str]:
    """The text of each file below `share`."""
    commands = every_command()
    return {
        "share/man/man1/celadon.1": page(),
        "share/bash-completion/completions/celadon": bash_script(commands),
        "share/zsh/site-functions/_celadon": zsh_script(commands),
        "share/fish/vendor_completions.d/celadon.fish": fish_script(commands),
    }


def bill_of_materials() -> dict[str, Any]:
    """The document of CycloneDX."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    itself = f"pkg:pypi/celadon@{__version__}"
    components = [*_needed(project), *_contained()]
    time = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH)), UTC)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": itself,
                "name": "celadon",
                "version": __version__,
                "description": project["description"],
                "licenses": [{"license": {"id": project["license"]}}],
                "purl": itself,
            },
        },
        "components": components,
        "dependencies": [{"ref": itself, "dependsOn": [one["bom-ref"] for one in components]}],
    }


def _needed(project: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What pip installs with Celadon: always, or with which extras."""
    extras: dict[str, list[str]] = {one: [] for one in project["dependencies"]}
    for extra, requirements in project["optional-dependencies"].items():
        for one in requirements:
            if extra not in ("all", "dev", "docs"):
                extras.setdefault(one, []).append(extra)
    for requirement, of in sorted(extras.items()):
        parsed = _REQUIREMENT.fullmatch(requirement)
        assert parsed is not None, requirement
        name, versions, marker = parsed.groups()
        told = {"celadon:versions": versions.strip(), "celadon:extras": ",".join(of)}
        told["celadon:marker"] = (marker or "").strip()
        yield {
            "type": "library",
            "bom-ref": requirement,
            "name": name,
            "scope": "optional" if of else "required",
            "purl": f"pkg:pypi/{name.lower()}",
            "properties": [{"name": key, "value": value} for key, value in told.items() if value],
        }


def _contained() -> Iterator[dict[str, Any]]:
    """What the page of the playground is made of, in the versions that it has."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    waiting, names = [*lock[""]["dependencies"]], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            asked = lock[f"node_modules/{name}"].get("dependencies", {})
            waiting += set(asked) - _NOT_IN_THE_PAGE.get(name, set())
    for name in sorted(names):
        package = lock[f"node_modules/{name}"]
        algorithm, _, digest = package["integrity"].partition("-")
        assert algorithm == "sha512"
        purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        yield {
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": package["version"],
            "licenses": [{"license": {"id": package["license"]}}],
            "hashes": [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}],
            "purl": purl,
        }
    purl = f"pkg:pypi/pyyaml@{yaml.__version__}"
    yield {
        "type": "library",
        "bom-ref": purl,
        "name": "PyYAML",
        "version": yaml.__version__,
        "licenses": [{"license": {"id": "MIT"}}],
        "purl": purl,
    }
    pinned = (ROOT / "web" / "solver.txt").read_text(encoding="utf-8")
    found = re.search(r"^(z3-solver)==(\S+) --hash=sha256:(\w+)$", pinned, re.MULTILINE)
    assert found is not None
    name, version, digest = found.groups()
    purl = f"pkg:pypi/{name}@{version}"
    yield {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": [{"license": {"id": "MIT"}}],
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "purl": purl,
    }


def write(folder: Path) -> None:
    """Write all files; what was in the folder and is none of them stays."""
    bill = json.dumps(bill_of_materials(), indent=2) + "\n"
    for name, text in {**shared_files(), "celadon.cdx.json": bill}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
