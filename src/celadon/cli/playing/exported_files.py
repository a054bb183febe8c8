"""A state as files: what `celadon check` takes, and a case for `celadon test`."""

from __future__ import annotations

import json
from typing import Any, Final

from celadon.admission import Operation
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.own_files.own_documents import API_VERSION
from celadon.cli.playing.pane_reading import PaneReader
from celadon.cli.playing.playground_states import Pane, State
from celadon.cli.policy_tests.expectations import CaseVerdict, Expectation
from celadon.cli.policy_tests.policy_test import Case, PolicyTest
from celadon.cli.policy_tests.running.case_bench import Bench
from celadon.cli.policy_tests.running.case_outcomes import outcome_of
from celadon.cli.policy_tests.written_tests.file_format import KIND
from celadon.cli.reading.problems import Problem
from celadon.cli.report.plain_text import yaml_text
from celadon.kube import metadata

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
    expect: Any = outcome.verdict.value
    if outcome.verdict in _SAYING and said:
        expect = {expect: said}
    return _written(state, case, expect, files)


def _written(state: State, case: Case, expect: object, files: dict[str, str]) -> dict[str, Any]:
    deletes_old = state.operation is Operation.DELETE and "old-object.yaml" in files
    members: dict[str, Any] = {
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
    test: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "policies": ["policy.yaml"],
        "kubernetesVersions": [state.release],
    }
    if "cluster.yaml" in files:
        test["resources"] = ["cluster.yaml"]
    return {**test, "cases": [json.loads(json.dumps(members))]}
