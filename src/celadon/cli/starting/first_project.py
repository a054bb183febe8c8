"""A first project on the disk. Nothing that is there is overwritten: not even one file is written
then."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from celadon.cli.starting.first_pipelines import CONFIGURATION, GITHUB, GITLAB, PRE_COMMIT
from celadon.cli.starting.first_policy_files import MANIFEST, NAMESPACES, POLICY, TEST

FILES: Final = {
    "celadon.toml": CONFIGURATION,
    "policies/owner-label.yaml": POLICY,
    "policies/owner-label.policytest.yaml": TEST,
    "cluster/namespaces.yaml": NAMESPACES,
    "manifests/web.yaml": MANIFEST,
    ".pre-commit-config.yaml": PRE_COMMIT,
    ".github/workflows/policies.yaml": GITHUB,
    ".gitlab-ci.yml": GITLAB,
}
"""Paths in the project, and what stands there."""


class ProjectError(Exception):
    """Why there is no project now; the text says where."""


def write_project(folder: Path) -> None:
    """Writes all files. Raises `ProjectError`: before the first one if any of them is there."""
    for name in FILES:
        path = folder / name
        if path.exists() or path.is_symlink():
            raise ProjectError(f"`{path}` is there already: nothing was written")
    for name, text in FILES.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ProjectError(f"`{path}` cannot be written: {reason}") from error
