"""Files that are dropped on the page: which document belongs in which pane.

What judges goes to the policy, bindings stay with it; a Namespace, roles and params have panes of
their own. Of the other objects the first is the one that is asked about, unless there is a
definition of its kind beside it; the rest is in the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping

from celadon.cli.checking.asking.webhook_documents import is_configuration
from celadon.cli.checking.manifests import described
from celadon.cli.playing.pane_reading import is_definition
from celadon.cli.playing.playground_states import Mode, Pane
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text
from celadon.kube import Json
from celadon.kube.well_known_values import RBAC_GROUP


def imported(files: Mapping[str, str]) -> dict[str, Json]:
    """`mode` and `panes` of a state, and `problems` with what cannot be read."""
    documents: list[Document] = []
    problems: list[Json] = []
    reader = DocumentReader(keeps_repeated=True)
    for name, text in files.items():
        for item in reader.read(Text(name, text)):
            if isinstance(item, Problem):
                problems.append(item.text())
            else:
                documents.append(item)
    panes: dict[Pane, list[str]] = {}
    for document in documents:
        pane = _pane(document, documents, asked=Pane.OBJECT in panes)
        panes.setdefault(pane, []).append(_text(document))
    mode = _mode(documents)
    return {
        "mode": mode.value,
        "panes": {pane.value: "---\n".join(texts) for pane, texts in panes.items()},
        "problems": problems,
    }


def _text(document: Document) -> str:
    """As it was written, comments included; an item of a list by itself."""
    if not document.path:
        return document.chunk.text.strip("\n") + "\n"
    from celadon.cli.report.plain_text import yaml_text  # late: few files hold lists

    return yaml_text(document.value)


def _pane(document: Document, among: list[Document], *, asked: bool) -> Pane:
    group, kind = document.group_kind
    sorted_ = described([document])
    if sorted_.policies or sorted_.mutating_policies or is_configuration(document):
        return Pane.POLICY
    if sorted_.bindings or sorted_.mutating_bindings:
        return Pane.BINDING
    if is_definition(document):
        return Pane.POLICY if _mode(among) is Mode.RULES else Pane.CLUSTER
    if kind == "Namespace":
        return Pane.NAMESPACE
    if group == RBAC_GROUP:
        return Pane.AUTHORIZER
    if _is_param(document, among):
        return Pane.PARAMS
    return Pane.CLUSTER if asked else Pane.OBJECT


def _is_param(document: Document, among: list[Document]) -> bool:
    named = document.value["apiVersion"], document.value["kind"]
    kinds = (one.value_at(("spec", "paramKind")) for one in among)
    return named in [
        (kind.get("apiVersion"), kind.get("kind")) for kind in kinds if isinstance(kind, dict)
    ]


def _mode(among: list[Document]) -> Mode:
    """What the documents are about."""
    sorted_ = described(among)
    if sorted_.mutating_policies:
        return Mode.MUTATING
    if sorted_.policies:
        return Mode.VALIDATING
    if any(map(is_configuration, among)):
        return Mode.WEBHOOK
    if any(map(is_definition, among)):
        return Mode.RULES
    return Mode.VALIDATING
