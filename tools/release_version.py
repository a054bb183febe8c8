"""Every part of a release has the version of the package: `python -m tools.release_version TAG`.

It needs no package, so that a release can ask before anything is installed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent


def versions() -> dict[str, str]:
    """The version that each file tells."""
    places = {
        "src/celadon/__init__.py": r'^__version__ = "(.*)"$',
        "deploy/helm/celadon/Chart.yaml": r"^appVersion: (.*)$",
        "deploy/helm/celadon/values.yaml": r"^image: celadon:(.*)$",
        "Dockerfile": r"docker build -t celadon:(\S+) ",
        "docs/cli.md": r"^  rev: v(.*)$",
    }
    found = {}
    for name, pattern in places.items():
        match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "none"
    extension = "editors/vscode/package.json"
    found[extension] = json.loads((ROOT / extension).read_text(encoding="utf-8"))["version"]
    return found


def main(tag: str) -> int:
    """1 if a file tells another version than the tag, or the changelog none."""
    wrong = {name: one for name, one in versions().items() if f"v{one}" != tag}
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(tag.removeprefix('v'))}\b", changes, re.MULTILINE):
        wrong["CHANGELOG.md"] = "none"
    for name, one in wrong.items():
        print(f"{name}: {one}, not {tag}", file=sys.stderr)  # noqa: T201 - a script for releases
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
