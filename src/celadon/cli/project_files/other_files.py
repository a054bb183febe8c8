"""Files of folders that are no manifests: charts, kustomizations, values, tests.

Somebody who names a folder means the manifests in it. What else lies there is passed over, and
counted; a file that is named itself is read, whatever it is. A text in which nothing looks like
`apiVersion` or `kind` is no manifest, however broken; one in which something does is.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text
from celadon.patterns import late_pattern

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
