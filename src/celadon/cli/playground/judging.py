"""A state of the playground to all that its page shows, and to files for `celadon check` and
`celadon test`.

    desk = Desk()
    desk.verdict(state)     what becomes of the request: on every keystroke
    desk.details(state)     why, and what else is to be said: a moment later
    decide(given)           both at once, from JSON to JSON

Everything is decided on the way of `celadon check`, whose report a verdict has. A desk remembers
what panes said and what was compiled, so a keystroke costs what it has changed; its answers do not
depend on what it was asked before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from celadon.admission import Operation, TypeChecker
from celadon.admission.explain import Budget, CaseExplanation, Explanation
from celadon.admission.lint import RULES
from celadon.admission.lint import Settings as LintSettings
from celadon.cel import EvaluationError
from celadon.cel.tracing import TraceRecorder
from celadon.cli.annotated_source import brief, traced
from celadon.cli.celadon_documents import API_VERSION, PROPERTIES_KIND, is_own
from celadon.cli.check.check_options import CheckInputs
from celadon.cli.check.check_report import ObjectResult, Place, Report
from celadon.cli.check.check_report import State as ObjectState
from celadon.cli.check.check_run import check
from celadon.cli.check.cluster import EngineMakers
from celadon.cli.check.document_requests import Question
from celadon.cli.check.manifests import (
    Manifests,
    PolicySet,
    PolicySets,
    described,
    is_configuration,
    mutating_engine,
    policy_sets,
    validating_engine,
    validating_policies,
)
from celadon.cli.check.object_judging import Settings
from celadon.cli.check.plugins import PluginChoice
from celadon.cli.check.recorded_requests import ExplainedObject, explained_objects
from celadon.cli.lint import LintInput, LintSetup, findings
from celadon.cli.playground.panes import (
    Mode,
    Pane,
    PaneReader,
    State,
    expression_details,
    expression_verdict,
    item_tree,
    state_of,
)
from celadon.cli.policytest import case_results
from celadon.cli.policytest.case_judging import Bench, outcome_of
from celadon.cli.policytest.file_format import KIND
from celadon.cli.reading.documents import Document, DocumentReader, Problem, Text
from celadon.cli.report.check_view import CheckView
from celadon.cli.report.explanation_outline import Item, Style, budget_item, outline
from celadon.cli.report.lint_view import finding_data
from celadon.cli.report.report_model import diff_lines, filled, yaml_text
from celadon.kube import GroupVersionKind, Json, JsonObject, User, metadata
from celadon.kube.crd import EvaluatedRule
from celadon.kube.json_types import JsonDict
from celadon.kube.library import PER_CALL_COST, RUNTIME_COST_BUDGET, environment
from celadon.kube.releases import answering_as
from celadon.kube.resources import known_resources
from celadon.kube.schemas import Schema, custom_schemas
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, RBAC_GROUP

# --- Kept policies -----------------------------------------------------------
#
# Policies of the last state, decoded and compiled: made again only where their panes changed.
#
# Documents are known by identity (`panes` keeps those of a pane that is as it was),
# policy sets and engines by the release that they are for.

_Made = TypeVar("_Made")


class KeptPolicies:
    """Keeps compiled policies between runs. `makers` give the engines of the sets."""

    def __init__(self) -> None:
        self._sets: dict[str, tuple[list[Document], PolicySets]] = {}
        self.makers = EngineMakers(
            _LastOfRelease(validating_engine), _LastOfRelease(mutating_engine)
        )

    def sets(self, manifests: Manifests, release: str) -> PolicySets:
        """Return the policies of the documents: the same object for the same documents."""
        judges = [document for part in manifests.given[:4] for document in part]
        remembered = self._sets.get(release)
        if remembered is not None and list(map(id, remembered[0])) == list(map(id, judges)):
            return remembered[1]
        before = len(manifests.problems)
        sets = policy_sets(manifests, release)
        if len(manifests.problems) == before:
            self._sets[release] = judges, sets
        return sets


class _LastOfRelease(Generic[_Made]):
    """Remembers, for each release, what it made last."""

    def __init__(self, make: Callable[[PolicySet, str], _Made]) -> None:
        self._make = make
        self._engines: dict[str, tuple[PolicySet, _Made]] = {}

    def __call__(self, policy_set: PolicySet, release: str) -> _Made:
        remembered = self._engines.get(release)
        if remembered is None or remembered[0] is not policy_set:
            remembered = self._engines[release] = policy_set, self._make(policy_set, release)
        return remembered[1]


# --- Mode subjects -----------------------------------------------------------
#
# What a mode is about, and that the pane of policies holds something of it.
#
# Choosing a mode says what decides. A policy that is still there from another mode would decide
# behind the back of whoever chose this one, so it is a problem until something of the mode is
# there.

NAMES: Final = {
    Mode.VALIDATING: "Validating policy",
    Mode.MUTATING: "Mutating policy",
    Mode.RULES: "Rules of a CRD",
    Mode.WEBHOOK: "Webhook match conditions",
}
"""As the page has them."""

_KINDS: Final = {
    (ADMISSION_REGISTRATION, "ValidatingAdmissionPolicy"): Mode.VALIDATING,
    (ADMISSION_REGISTRATION, "ValidatingAdmissionPolicyBinding"): Mode.VALIDATING,
    (ADMISSION_REGISTRATION, "MutatingAdmissionPolicy"): Mode.MUTATING,
    (ADMISSION_REGISTRATION, "MutatingAdmissionPolicyBinding"): Mode.MUTATING,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Mode.RULES,
}


def subject(document: Document) -> Mode | None:
    """Return the mode that a document is for; None for what decides nothing by itself."""
    if is_configuration(document):
        return Mode.WEBHOOK
    return _KINDS.get(document.group_kind)


def wrong_subject(mode: Mode, policies: Iterable[Document]) -> Problem | None:
    """If all that could decide is for other modes; `policies` are from the pane of them."""
    mode_policies = [
        (policy, policy_mode) for policy in policies if (policy_mode := subject(policy)) is not None
    ]
    if not mode_policies or any(policy_mode is mode for _, policy_mode in mode_policies):
        return None
    document, policy_mode = mode_policies[0]
    text = f"a {document.group_kind[1]} decides nothing in the mode `{NAMES[mode]}`"
    help_ = f"choose the mode `{NAMES[policy_mode]}` for it"
    return Problem(Pane.POLICY.value, document.line(), text, help_)


_AROUND: Final = (
    Pane.POLICY,
    Pane.BINDING,
    Pane.PARAMS,
    Pane.NAMESPACE,
    Pane.CLUSTER,
    Pane.AUTHORIZER,
)
"""Panes whose objects exist when the request comes."""


def decide(value: Json) -> JsonObject:
    """Return all that is to be said of a state. Raises StateError."""
    desk, state = Desk(), state_of(value)
    return {**desk.verdict(state), "details": desk.details(state)}


class Desk:
    """Decides states, one after the other."""

    def __init__(self) -> None:
        self._panes = PaneReader()
        self._policies = KeptPolicies()
        self._remarks: PolicyRemarks | None = None

    def verdict(self, state: State) -> JsonDict:
        """Return what a server would say: `report` is that of `celadon check -o json`. In the mode
        of expressions, the value."""
        with answering_as(state.release):
            return self._verdict(state)

    def _verdict(self, state: State) -> JsonDict:
        if state.mode is Mode.EXPRESSION:
            return expression_verdict(state, self._panes)
        inputs = self.inputs(state)
        if isinstance(inputs, Problem):
            return {"report": CheckView(Report(problems=(inputs,))).data()}
        report = _said(check(inputs, _untold, None, self._policies.makers))
        return {"report": CheckView(report).data()}

    def details(self, state: State) -> JsonDict:
        """Return why, what lint says, and what another release would say."""
        with answering_as(state.release):
            return self._details(state)

    def _details(self, state: State) -> JsonDict:
        if state.mode is Mode.EXPRESSION:
            return self._with_changes(state, expression_details(state, self._panes))
        inputs = self.inputs(state)
        if isinstance(inputs, Problem):
            return {}
        _, explained = explained_objects(inputs, lambda *_: True, _untold, self._policies.makers)
        around = self._panes.documents(state, _AROUND)
        heard = [item for item in explained if not _is_silent(item.result)]
        details = {} if inputs.manifests.problems else request_details(heard)
        details |= self._remarks_of(state, around, inputs.policies.validating)
        return self._with_changes(state, details)

    def _remarks_of(
        self, state: State, documents: Sequence[Document], policies: PolicySet
    ) -> dict[str, Json]:
        if self._remarks is None:
            self._remarks = PolicyRemarks()
        return self._remarks.of(state, documents, policies)

    def _with_changes(self, state: State, details: JsonDict) -> JsonDict:
        other = state.compared
        if not other or other == state.release:
            return details

        verdict = self.verdict(replace(state, release=other))
        changes = release_changes(state.release, other, self.verdict(state), verdict)
        return {**details, "changes": changes}

    def _unaskable(self, state: State) -> Problem | None:
        policies = self._panes.documents(state, [Pane.POLICY])
        return _incomplete(state) or wrong_subject(state.mode, policies)

    def inputs(self, state: State) -> CheckInputs | Problem:
        """Return what `celadon check` would be given; a problem for what cannot be asked."""
        user = self._panes.user(state)
        wrong = user if isinstance(user, Problem) else self._unaskable(state)
        if wrong is not None:
            return wrong
        assert not isinstance(user, Problem), "it would be what is wrong"
        around = self._panes.documents(state, _AROUND)
        objects = self._panes.documents(state, [Pane.OBJECT])
        old = self._panes.documents(state, [Pane.OLD_OBJECT])
        if state.operation is Operation.DELETE:
            objects, old = old or objects, ()
        manifests = described(around, objects, old)
        for pane in (*_AROUND, Pane.OBJECT, Pane.OLD_OBJECT):
            manifests.problems += self._panes.read(state, pane).problems
        sets = self._policies.sets(manifests, state.release)
        namespaces = self._panes.documents(state, [Pane.NAMESPACE])
        return CheckInputs(manifests, sets, _settings(state, user, namespaces))


def _untold(_: int) -> None:
    """Do nothing: nobody counts."""


def _said(report: Report) -> Report:
    """Return the report without a word on the object as long as something cannot be read or used:
    who reads that it were admitted would take it for the answer. Nor does it tell of what
    controllers would create, if nobody has a say in it."""
    if report.problems or report.policy_errors:
        return replace(report, objects=())
    return replace(
        report, objects=tuple(result for result in report.objects if not _is_silent(result))
    )


def _is_silent(result: ObjectResult) -> bool:
    """Return whether it is about what a controller would create, and nobody looked at that."""
    return (
        result.created_by is not None
        and result.state is ObjectState.UNTOUCHED
        and not result.warnings
    )


def _incomplete(state: State) -> Problem | None:
    if state.operation is Operation.UPDATE and not state.text(Pane.OLD_OBJECT).strip():
        text = "an UPDATE needs the object as it is now"
        return Problem(Pane.OLD_OBJECT.value, 1, text, "put it into the pane `oldObject`")
    if state.operation is Operation.CONNECT and not state.subresource:
        text = "a CONNECT needs a subresource, for instance exec"
        return Problem(Pane.OBJECT.value, 1, text)
    return None


def _settings(state: State, user: User, namespaces: Sequence[Document]) -> Settings:
    """Return what controllers would create is judged where objects are about the server's own
    kinds."""
    names = [metadata.name(namespace.value) for namespace in namespaces]
    question = Question(
        state.operation,
        subresource=state.subresource,
        namespace=names[0] if names else "default",
        user=user,
        dry_run=state.dry_run,
        field_validation=state.field_validation,
    )
    creates = state.mode is not Mode.RULES
    return Settings(
        question,
        state.release,
        case_results.DEFAULT_NOW,
        jobs=1,
        plugins=PluginChoice(),
        creates=creates,
    )


# --- Policy remarks ----------------------------------------------------------
#
# What is to be said of policies whatever the request is: lint's findings, the status.


class PolicyRemarks:
    """Remembers what it said last: it takes longer than a verdict, and few keystrokes change it."""

    def __init__(self) -> None:
        self._last_input: tuple[str, Sequence[Document]] = ("", ())
        self._last_remarks: dict[str, object] | None = None

    def of(self, state: State, documents: Sequence[Document], policies: PolicySet) -> JsonDict:
        """Return remarks on the documents of the panes around a request."""
        release, last_documents = self._last_input
        is_same = release == state.release and list(map(id, last_documents)) == list(
            map(id, documents)
        )
        if self._last_remarks is None or not is_same:
            self._last_input = state.release, documents
            self._last_remarks = {
                "lint": _lint(documents, state),
                "typeChecking": _statuses(documents, policies, state.release),
            }
        return self._last_remarks


def _lint(documents: Sequence[Document], state: State) -> list[JsonObject]:
    """Return the result as `celadon lint -o json` says it, with panes for files."""
    names = {document.file for document in documents}
    texts = {name: Text(name, state.text(Pane(name))) for name in names}
    lint_input = LintInput(texts, list(documents), [])
    shown_findings, _ = findings(lint_input, LintSetup(LintSettings(state.release), RULES))
    return [finding_data(item.located) for item in shown_findings]


def _statuses(documents: Sequence[Document], policies: PolicySet, release: str) -> list[JsonObject]:
    """Return the status that the API server's controller gives each policy; its types are numbered
    from 0."""
    definitions = [document.value for document in documents if document.is_definition]
    custom: dict[GroupVersionKind, Schema] = {}
    for definition in definitions:
        custom.update(custom_schemas(definition))
    checker = TypeChecker(known_resources().with_crds(definitions), custom, release)
    return [
        {"policy": validating_policy.name, "status": checker.status(validating_policy, 0)}
        for validating_policy in validating_policies(policies)
    ]


# --- Release changes ---------------------------------------------------------
#
# What another release of Kubernetes would say to the same state, and what its CEL has besides.

_COMPARED: Final = ("allowed", "code", "message", "warnings", "auditAnnotations", "mutation")
"""Members of an object's result."""


def release_changes(
    release: str, other: str, first_answer: JsonObject, second_answer: JsonObject
) -> dict[str, Json]:
    """Return what changes from the verdict of one release to that of the other."""
    return {
        "from": release,
        "to": other,
        "differences": list(_differences(first_answer, second_answer)),
        "functions": _functions(release, other),
    }


def _differences(first_answer: JsonObject, second_answer: JsonObject) -> Iterator[JsonObject]:
    if first_answer.get("report") is None or second_answer.get("report") is None:
        for name in ("value", "type", "message", "cost"):
            yield from _difference(name, first_answer.get(name), second_answer.get(name))
        return
    before, after = first_answer["report"], second_answer["report"]
    mine, objects = before["objects"], after["objects"]
    for number in range(max(len(mine), len(objects))):
        row = mine[number] if number < len(mine) else {}
        other = objects[number] if number < len(objects) else {}
        title = f"{row.get('kind', other.get('kind'))} {row.get('name', other.get('name'))}"
        for name in _COMPARED:
            yield from _difference(f"{title}: {name}", row.get(name), other.get(name))
    for name in ("policyErrors", "notices", "problems"):
        yield from _difference(name, _messages(before[name]), _messages(after[name]))


def _messages(items: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [item["message"] for item in items]


def _difference(name: str, before: object, after: object) -> Iterator[JsonObject]:
    if before != after:
        yield {"what": name, "before": before, "after": after}


def _functions(release: str, other: str) -> dict[str, list[str]]:
    """Names of functions that only one of the two has."""
    mine, names = _names(release), _names(other)
    return {"added": sorted(names - mine), "removed": sorted(mine - names)}


def _names(release: str) -> set[str]:
    """Return the functions without operators and what nobody writes."""
    functions = environment(release).declarations.functions
    return {name for name in functions if name[:1].isalpha()}


# --- Request details ---------------------------------------------------------
#
# Why a request was decided as it was, and what else is to be said of it.
#
# The explanation is that of `celadon explain`, with the rules of custom resources beside
# policies and webhooks; costs are those of its expressions.

_MOST_RULES: Final = 200
"""Evaluations of rules of a custom resource that are shown: a long list has one for each item."""
_ROOM: Final = 80


def request_details(explained: Sequence[ExplainedObject]) -> dict[str, object]:
    """Trees, costs and changes of each object of the request."""
    trees = []
    for explained_object in explained:
        item = outline(explained_object)
        trees.append(item_tree(replace(item, items=(*item.items, *_rules(explained_object)))))
    return {
        "explanation": trees,
        "costs": [cost for item in explained for cost in _costs(item)],
        "mutations": [mutation for each in explained for mutation in _mutations(each)],
    }


# --- rules of custom resources ----------------------------------------------------------------


def _rules(explained: ExplainedObject) -> Iterator[Item]:
    custom, request = (
        explained.judged.document_request.target.custom,
        explained.judged.document_request.request,
    )
    if custom is None or request.object is None:
        return
    old = None if request.old_object is None else dict(request.old_object)
    rules = custom.asked_rules(dict(request.object), old)
    items, spent = list[Item](), 0
    for rule in islice(rules, _MOST_RULES):
        item, cost = _rule(rule)
        items.append(item)
        spent += cost
    if not items:
        return
    if len(rules) > _MOST_RULES:
        items.append(Item("rules", f"{len(rules) - _MOST_RULES:,} more", Style.IDLE))
    items.append(budget_item(Budget("x-kubernetes-validations", RUNTIME_COST_BUDGET, spent)))
    bad = any(item.style is Style.BAD for item in items)
    label = f"rules of {custom.gvk.kind}"
    yield Item(label, "", Style.BAD if bad else Style.GOOD, items=tuple(items))


def _rule(rule: EvaluatedRule) -> tuple[Item, int]:
    """Ask the rule again, with somebody looking on."""
    recorder = TraceRecorder()
    try:
        value, cost = rule.program.evaluate_traced(rule.activation, recorder, PER_CALL_COST)
    except EvaluationError as error:
        value, cost = error, error.cost or 0
    holds = value is True
    text = f"{brief(value, _ROOM)}, cost {cost:,} of at most {rule.max_cost:,}"
    label = rule.path.text or "the object"
    snippet = traced(rule.program.checked.ast, recorder.frame)
    style = Style.GOOD if holds else Style.BAD
    return Item(label, text, style, snippet=snippet, opens=not holds), cost


# --- costs and changes ------------------------------------------------------------------------


def _costs(explained: ExplainedObject) -> Iterator[JsonDict]:
    for explanation in (explained.mutation, explained.validation):
        if explanation is not None:
            for policy, binding, case in _cases(explanation):
                about = filled(policy=policy, binding=binding, param=case.param)
                for budget in case.budgets:
                    yield about | _cost(budget.phase, budget.spent, budget.limit)
                for part in (*case.conditions, *case.validations, *case.mutations):
                    if part.run is not None:
                        cost = _cost(part.source.path.text, part.run.charged, PER_CALL_COST)
                        yield about | cost | {"expression": True}


def _cost(field: str, spent: int, limit: int) -> dict[str, object]:
    return {"field": field, "spent": spent, "limit": limit}


def _cases(explanation: Explanation) -> Iterator[tuple[str, str, CaseExplanation]]:
    for policy in explanation.policies:
        for binding in policy.bindings:
            for case in binding.cases:
                yield policy.policy.name, binding.binding.name, case


def _mutations(explained: ExplainedObject) -> Iterator[JsonObject]:
    """Yield what mutating policies have made of the object, line by line."""
    mutated = explained.result.mutated
    if mutated is not None:
        yield {
            "object": explained.result.title,
            "policies": list(mutated.policies),
            "diff": diff_lines(mutated.before, mutated.after),
        }


# --- A state as files --------------------------------------------------------
#
# A state as files: what `celadon check` takes, and a case for `celadon test`.

_FILES: Final = {
    "policy.yaml": (Pane.POLICY, Pane.BINDING),
    "cluster.yaml": (Pane.PARAMS, Pane.NAMESPACE, Pane.CLUSTER, Pane.AUTHORIZER),
    "object.yaml": (Pane.OBJECT,),
    "old-object.yaml": (Pane.OLD_OBJECT,),
    "variables.yaml": (Pane.VARIABLES,),
    "expression.cel": (Pane.EXPRESSION,),
    "user.yaml": (Pane.USER,),
    "properties.yaml": (Pane.PROPERTIES,),
}
_TEST: Final = "policy.policytest.yaml"
_SAYING: Final = frozenset(
    {case_results.CaseVerdict.DENY, case_results.CaseVerdict.WARN, case_results.CaseVerdict.AUDIT}
)
"""Verdicts whose message is expected, too."""


def exported_files(state: State) -> dict[str, str]:
    """Names and contents; a test only of what can be one: one request that can be judged."""
    files = {}
    for name, panes in _FILES.items():
        texts = [state.text(pane).strip("\n") for pane in panes if state.text(pane).strip()]
        if texts:
            files[name] = "\n---\n".join(texts) + "\n"
    test = _test(state, files)
    return files if test is None else {**files, _TEST: yaml_text(test)}


def _test(state: State, files: dict[str, str]) -> JsonDict | None:
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
    case = case_results.Case(
        "as in the playground",
        place,
        case_results.Expectation(case_results.CaseVerdict.ADMIT, place),
        objects[0],
        old[0] if old else None,
        state.operation,
        state.subresource,
        namespace,
        user,
        state.dry_run,
    )
    bench = Bench(
        case_results.PolicyTest(_TEST, _TEST, around, (case,), plugins=PluginChoice()),
        state.release,
    )
    judged = bench.judged(case)
    if not judged.findings.results:
        return None
    outcome = outcome_of(case, judged)
    message = outcome.deciding[0].message if outcome.deciding else ""
    expect: object = outcome.verdict.value
    if outcome.verdict in _SAYING and message:
        expect = {expect: message}
    return _written(state, case, expect, files)


def _written(
    state: State, case: case_results.Case, expect: object, files: dict[str, str]
) -> dict[str, object]:
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
            members["extra"] = {key: list(value) for key, value in case.user.extra.items()}
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
        pane = _pane(document, documents, is_question=Pane.OBJECT in panes)
        panes.setdefault(pane, []).append(_text(document))
    mode = _mode(documents)
    return {
        "mode": mode.value,
        "panes": {pane.value: "---\n".join(texts) for pane, texts in panes.items()},
        "problems": problems,
    }


def _text(document: Document) -> str:
    """Return the document as it was written, comments included; an item of a list by itself."""
    if not document.path:
        return document.chunk.text.strip("\n") + "\n"

    return yaml_text(document.value)


def _pane(document: Document, among: list[Document], *, is_question: bool) -> Pane:
    group, kind = document.group_kind
    manifests = described([document])
    if manifests.policies or manifests.mutating_policies or is_configuration(document):
        return Pane.POLICY
    if manifests.bindings or manifests.mutating_bindings:
        return Pane.BINDING
    if document.is_definition:
        return Pane.POLICY if _mode(among) is Mode.RULES else Pane.CLUSTER
    if kind == "Namespace":
        return Pane.NAMESPACE
    if group == RBAC_GROUP:
        return Pane.AUTHORIZER
    if is_own(document, PROPERTIES_KIND):
        return Pane.PROPERTIES
    if _is_param(document, among):
        return Pane.PARAMS
    return Pane.CLUSTER if is_question else Pane.OBJECT


def _is_param(document: Document, among: list[Document]) -> bool:
    named = document.value["apiVersion"], document.value["kind"]
    kinds = (document.value_at(("spec", "paramKind")) for document in among)
    return named in [
        (kind.get("apiVersion"), kind.get("kind")) for kind in kinds if isinstance(kind, dict)
    ]


def _mode(among: list[Document]) -> Mode:
    """Return what the documents are about."""
    manifests = described(among)
    if manifests.mutating_policies:
        return Mode.MUTATING
    if manifests.policies:
        return Mode.VALIDATING
    if any(map(is_configuration, among)):
        return Mode.WEBHOOK
    if any(document.is_definition for document in among):
        return Mode.RULES
    return Mode.VALIDATING
