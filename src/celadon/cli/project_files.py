"""Files of folders that are no manifests: charts, kustomizations, values, tests.

Somebody who names a folder means the manifests in it. What else lies there is passed over, and
counted; a file that is named itself is read, whatever it is. A text in which nothing looks like
`apiVersion` or `kind` is no manifest, however broken; one in which something does is.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from celadon.cli.options import DEFAULT_VERSION
from celadon.cli.project_config import NO_PROJECT, Project, find_project
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import STDIN_NAME, Text, encoded_like
from celadon.kube.releases import enter_release
from celadon.patterns import late_pattern
from celadon.records import dataclass

_NAMES: Final = {
    "kustomization": "kustomizations",
    "chart": "Helm charts",
    "values": "values of Helm charts",
    "artifacthub-pkg": "packages of Artifact Hub",
    "artifacthub-repo": "packages of Artifact Hub",
}
"""By the name of the file, without its ending and in lower case."""
_OTHERS: Final = "other files"
_TEMPLATES: Final = "templates of Helm charts"
_KUSTOMIZE: Final = "kustomizations"
_TESTS: Final = "tests"
_CONFIGURATIONS: Final = "configurations of programs"
_OF_PROGRAMS: Final = frozenset(
    {
        *("apiserver.config.k8s.io", "kubeadm.k8s.io", "kubelet.config.k8s.io"),
        *("kubeproxy.config.k8s.io", "kubescheduler.config.k8s.io", "kubectl.config.k8s.io"),
        *("kind.x-k8s.io", "k3d.io", "ctlptl.dev", "kuttl.dev"),
        *("vendir.k14s.io", "kbld.k14s.io", "kapp.k14s.io", "imgpkg.carvel.dev"),
    }
)
"""Groups of files that programs read, and no API server serves."""
_VERSIONS_AT_TOP: Final = late_pattern(
    r"""^["']?apiVersion["']?[ \t]*:[ \t]*["']?([^\s"'#]+)""", re.MULTILINE | re.ASCII
)
_LIKE_A_MANIFEST: Final = late_pattern(r"""["']?\b(?:apiVersion|kind)["']?[ \t]*:""", re.ASCII)
_AT_THE_TOP: Final = late_pattern(r"""^["']?(apiVersion|kind)["']?[ \t]*:""", re.MULTILINE)
_TOOLS: Final = late_pattern(
    r"""^[ ]*["']?apiVersion["']?[ \t]*:[ \t]*["']?"""
    r"(?:(kustomize\.config\.k8s\.io)|(?:cli|chainsaw)\.kyverno\.io|test\.gatekeeper\.sh)/",
    re.MULTILINE | re.ASCII,
)


def passed_over(text: Text, named: Sequence[str]) -> str:
    """What a file of a folder is, if it is no manifest; empty if it is one, or is among those that
    were named."""
    if text.file in named:
        return ""
    folder, name = os.path.split(text.file)
    stem = os.path.splitext(name)[0].lower()
    if stem in _NAMES and len(set(_AT_THE_TOP.findall(text.content))) < 2:
        return _NAMES[stem]
    if _is_template(folder, text.content):
        return _TEMPLATES
    if _LIKE_A_MANIFEST.search(text.content) is None:
        return _OTHERS if text.content.strip() else ""
    return _of_tool(text.content)


def _of_tool(content: str) -> str:
    """What a text with manifests' first members is, if it is for a tool. Where something stands at
    the left edge, what is written further to the right is data of it."""
    versions = _VERSIONS_AT_TOP.findall(content)
    if versions and _OF_PROGRAMS.issuperset(one.partition("/")[0] for one in versions):
        return _CONFIGURATIONS
    for tool in _TOOLS.finditer(content):
        if not versions or not tool[0].startswith(" "):
            return _KUSTOMIZE if tool[1] else _TESTS
    return ""


def _is_template(folder: str, content: str) -> bool:
    """Below `templates/` of a chart, with something to be filled in."""
    if "{{" not in content:
        return False
    while (name := os.path.basename(folder)) and name != "templates":
        folder = os.path.dirname(folder)
    return bool(name) and os.path.isfile(os.path.join(os.path.dirname(folder), "Chart.yaml"))


def other_file(file: str, what: str) -> Problem:
    """That a file was passed over, as a problem for whoever wants none."""
    return Problem(file, 0, f"no manifest: it is among the {what}")


def summary(others: Iterable[Problem]) -> str:
    """One line about all that was passed over."""
    kinds = Counter(one.message.rpartition("among the ")[2] for one in others)
    total = sum(kinds.values())
    files = "1 file that is no manifest" if total == 1 else f"{total} files that are no manifests"
    told = ", ".join(f"{what}: {count}" for what, count in kinds.items())
    return f"passed over: {files} ({told})"


# --- Changed file ------------------------------------------------------------
#
# A file that a command changes: shown as a difference, or written.
#
# It keeps its encoding and line ends. One that changed meanwhile, or has line ends of both
# kinds, stays as it is.


_NO_END: Final = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """The text of a file as it is and as it will be, the bytes of the latter, and in how many
    places that changes it."""

    file: str
    before: str
    after: str
    data: bytes
    count: int

    def write(self) -> None:
        """Change the file."""
        Path(self.file).write_bytes(self.data)

    def diff(self) -> str:
        """As `diff -u` shows it."""
        return unified_diff(self.file, self.before, self.after)


def changed_file(text: Text, content: str, count: int) -> ChangedFile | None:
    """A file with other content, changed in so many places; None if it must stay as it is."""
    if text.file == STDIN_NAME or not count:
        return None
    data = Path(text.file).read_bytes()
    if encoded_like(text.content, data) != data:
        return None
    encoded = encoded_like(content, data)
    if encoded is None:
        return None
    return ChangedFile(text.file, text.content, content, encoded, count)


def unified_diff(file: str, before: str, after: str) -> str:
    """What `diff -u` shows of two texts of a file."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), file, file
    )
    return "".join(one if one.endswith("\n") else f"{one}\n{_NO_END}" for one in lines)


# --- Project options ---------------------------------------------------------
#
# `--profile` and `--no-config`, and what they take from the configuration of a project into the
# options of a command.


def add_project(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("configuration")
    group.add_argument(
        "--profile",
        default="",
        metavar="NAME",
        help="what celadon.toml has below [profiles.NAME] counts too",
    )
    group.add_argument(
        "--no-config", action="store_true", help="celadon.toml and pyproject.toml do not count"
    )


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Declare `--verbose` for a command that has nothing else to say at length."""
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="say which configuration file was used, and what it adds",
    )


def project_of(
    options: argparse.Namespace, complain: Callable[[str], None], *, reads_files: bool = True
) -> Project:
    """What the options choose of the configuration; with `--verbose`, `complain` is told which file
    that is. Raises ConfigError."""
    from celadon.cli.project_config import ConfigError

    if options.no_config:
        if options.profile:
            raise ConfigError("`--profile` and `--no-config` exclude each other")
        return NO_PROJECT
    project = find_project(Path.cwd(), options.profile, reads_files=reads_files)
    if options.verbose and project.summary:
        complain(project.summary)
    return project


def use_project(options: argparse.Namespace, complain: Callable[[str], None]) -> tuple[str, ...]:
    """Complete the options: a release that is given counts, patterns come behind those of the file.
    It is the current release from now on. What comes back are the files that go before what `-f`
    gives. Raises ConfigError."""
    project = project_of(options, complain)
    options.exclude = [*project.exclude, *options.exclude]
    options.kubernetes_version = options.kubernetes_version or project.version or DEFAULT_VERSION
    enter_release(options.kubernetes_version)
    return project.files
