"""A state as files: what `celadon check` takes, and a case for `celadon test`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from celadon.admission import Operation
from celadon.cli.check.check_report import Place
from celadon.cli.check.manifests import described
from celadon.cli.check.plugins import PluginChoice
from celadon.cli.check.webhook_documents import is_configuration
from celadon.cli.own_files import API_VERSION
from celadon.cli.playground.panes import Mode, Pane, PaneReader, State, is_definition
from celadon.cli.policytest.files.file_format import KIND
from celadon.cli.policytest.run.case_comparison import outcome_of
from celadon.cli.policytest.run.case_judging import Bench
from celadon.cli.policytest.run.case_results import Case, CaseVerdict, Expectation, PolicyTest
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text
from celadon.cli.report.plain_text import yaml_text
from celadon.kube import Json, metadata
from celadon.kube.well_known_values import RBAC_GROUP

_FILES: Final = {
    "policy.yaml": (Pane.POLICY, Pane.BINDING),
    "cluster.yaml": (Pane.PARAMS, Pane.NAMESPACE, Pane.CLUSTER, Pane.AUTHORIZER),
    "object.yaml": (Pane.OBJECT,),
    "old-object.yaml": (Pane.OLD_OBJECT,),
    "variables.yaml": (Pane.VARIABLES,),
    "expression.cel": (Pane.EXPRESSION,),
    "user.yaml": (Pane.USER,),
}
_TEST: Final = "policy.policytest.yaml"
_SAYING: Final = frozenset({CaseVerdict.DENY, CaseVerdict.WARN, CaseVerdict.AUDIT})
"""Verdicts whose message is expected, too."""


def exported_files(state: State) -> dict[str, str]:
    """Names and contents; a test only of what can be one: one request that can be judged."""
    found = {}
    for name, panes in _FILES.items():
        texts = [state.text(pane).strip("\n") for pane in panes if state.text(pane).strip()]
        if texts:
            found[name] = "\n---\n".join(texts) + "\n"
    test = _test(state, found)
    return found if test is None else {**found, _TEST: yaml_text(test)}


def _test(state: State, files: dict[str, str]) -> dict[str, Any] | None:
    reader = PaneReader()
    user = reader.user(state)
    objects = reader.documents(state, [Pane.OBJECT])
    old = reader.documents(state, [Pane.OLD_OBJECT])
    if state.operation is Operation.DELETE:
        objects, old = old or objects, ()
    if len(objects) != 1 or len(old) > 1 or isinstance(user, Problem):
        return None
    namespaces = reader.documents(state, [Pane.NAMESPACE])
    namespace = metadata.name(namespaces[0].value) if namespaces else "default"
    around = reader.documents(state, (*_FILES["policy.yaml"], *_FILES["cluster.yaml"]))
    place = Place(_TEST)
    case = Case(
        "as in the playground",
        place,
        Expectation(CaseVerdict.ADMIT, place),
        objects[0],
        old[0] if old else None,
        state.operation,
        state.subresource,
        namespace,
        user,
        state.dry_run,
    )
    bench = Bench(PolicyTest(_TEST, _TEST, around, (case,), plugins=PluginChoice()), state.release)
    judged = bench.judged(case)
    if not judged.findings.results:
        return None
    outcome = outcome_of(case, judged)
    said = outcome.deciding[0].message if outcome.deciding else ""
    expect: object = outcome.verdict.value
    if outcome.verdict in _SAYING and said:
        expect = {expect: said}
    return _written(state, case, expect, files)


def _written(state: State, case: Case, expect: object, files: dict[str, str]) -> dict[str, object]:
    deletes_old = state.operation is Operation.DELETE and "old-object.yaml" in files
    members: dict[str, object] = {
        "name": case.name,
        "object": "old-object.yaml" if deletes_old else "object.yaml",
    }
    if case.old is not None:
        members["oldObject"] = "old-object.yaml"
    if case.operation is not Operation.CREATE:
        members["operation"] = case.operation.value
    if case.subresource:
        members["subresource"] = case.subresource
    if case.namespace != "default":
        members["namespace"] = case.namespace
    if state.text(Pane.USER).strip():
        members |= {"user": case.user.name, "groups": list(case.user.groups)}
        if case.user.uid:
            members["uid"] = case.user.uid
        if case.user.extra:
            members["extra"] = {key: list(one) for key, one in case.user.extra.items()}
    if case.dry_run:
        members["dryRun"] = True
    members["expect"] = expect
    test: dict[str, Json] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "policies": ["policy.yaml"],
        "kubernetesVersions": [state.release],
    }
    if "cluster.yaml" in files:
        test["resources"] = ["cluster.yaml"]
    return {**test, "cases": [json.loads(json.dumps(members))]}


# --- Imported manifests ------------------------------------------------------
#
# Files that are dropped on the page: which document belongs in which pane.
#
# What judges goes to the policy, bindings stay with it; a Namespace, roles and params have
# panes of their own. Of the other objects the first is the one that is asked about, unless
# there is a definition of its kind beside it; the rest is in the cluster.


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
    """Return it as it was written, comments included; an item of a list by itself."""
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
    """Return what the documents are about."""
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
