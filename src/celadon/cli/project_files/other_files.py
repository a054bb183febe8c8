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
    tool = _TOOLS.search(text.content)
    if tool is None:
        return ""
    return _KUSTOMIZE if tool[1] else _TESTS


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
