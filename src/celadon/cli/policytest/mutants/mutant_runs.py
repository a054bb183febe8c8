"""`celadon test --mutate`: every alteration of every policy under test, what became of it, and the
case that would notice it.

Cases are run until one fails; what survives them all is searched for a request that makes a
difference. Policies are independent of each other, so several processes may share them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, Final, NamedTuple

from celadon.admission import ADMIN, VALIDATION_FAILURE, Operation
from celadon.cli.celadon_documents import API_VERSION
from celadon.cli.check.check_report import Place
from celadon.cli.check.cluster import Cluster
from celadon.cli.check.document_requests import identity
from celadon.cli.policytest.case_judging import Bench, outcome_of
from celadon.cli.policytest.case_results import (
    AlterationResult,
    Alterations,
    AuthorizerAnswer,
    Case,
    CaseOutcome,
    CaseVerdict,
    Fate,
    Measured,
    PolicyTest,
    Status,
    all_alterations,
)
from celadon.cli.policytest.case_running import run_case
from celadon.cli.policytest.file_format import KIND
from celadon.cli.policytest.file_tests import is_policy_test, read_test
from celadon.cli.policytest.mutants.canonical_expressions import is_same
from celadon.cli.policytest.mutants.input_combinations import InputCombinations, PolicyInputs, Space
from celadon.cli.policytest.mutants.mutant_proofs import EVERYWHERE_SAME, MutantProofs, can_prove
from celadon.cli.policytest.mutants.policy_mutants import Alteration, alterations, diff
from celadon.cli.policytest.mutants.policy_stages import (
    Stage,
    altered_bench,
    as_original,
    compiled_policy,
    for_altered,
    glance,
    is_mutating,
    is_same_object,
    stages,
)
from celadon.cli.policytest.mutants.request_pool import Generated, RequestPool
from celadon.cli.processes import possible_workers, received, started
from celadon.cli.reading.documents import Document, DocumentReader, Text, read_text
from celadon.cli.reading.locations import Chunk
from celadon.kube import Json, JsonObject, Ruling, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import patch_between
from celadon.kube.resources import Catalog

# --- Proposed cases ----------------------------------------------------------
#
# A request that tells a policy from an altered one, as a case of a test file.
#
# Where the request was made of a case that is there, the new case is that one with what is
# different; else, or where that does not say the same, it says everything. It is read as it would
# be in the file, and run with both policies: what is proposed passes with the policy as it is and
# fails with the other.

# --- Written expectations ----------------------------------------------------
#
# What is to be expected of a request so that a case tells two policies apart: as test files say
# it. No more than it takes: the verdict with its message, and what else is different.


def telling_expectations(outcome: CaseOutcome, other: CaseOutcome) -> Iterator[str | JsonObject]:
    """Yield expectations that hold for what is wanted, the shortest first."""
    fields = _verdict(outcome)
    if not fields:
        yield outcome.verdict.value
    else:
        yield fields
    named = fields or {"verdict": outcome.verdict.value}
    more = dict(_differences(outcome, other))
    if more:
        yield {**named, **more}
    if outcome.result.sentence != other.result.sentence and fields:
        yield {outcome.verdict.value: outcome.result.sentence, **more}


def _verdict(outcome: CaseOutcome) -> dict[str, object]:
    """Return the verdict with the message, if a policy has one."""
    verdict = outcome.verdict
    if verdict in (CaseVerdict.ADMIT, CaseVerdict.NO_MATCH):
        return {}
    messages = (
        *(notice.message for notice in outcome.deciding),
        *(notice.message for notice in outcome.ignored),
    )
    text = next(iter(messages), "")
    return {verdict.value: text} if text else {}


def _differences(outcome: CaseOutcome, other: CaseOutcome) -> Iterator[tuple[str, Json]]:
    """Yield what is said besides, where that is other."""
    result, other_result = outcome.result, other.result
    texts = [
        [warning.text for warning in object_result.warnings if warning.violations]
        for object_result in (result, other_result)
    ]
    if texts[0] != texts[1]:
        yield "warnings", texts[0]
    annotations = {
        key: {"contains": _speaker(outcome)} if key == VALIDATION_FAILURE else value
        for key, value in result.audit_annotations.items()
        if other_result.audit_annotations.get(key) != value
    }
    if annotations:
        yield "auditAnnotations", annotations
    reasons = [
        str((object_result.status or {}).get("reason", ""))
        for object_result in (result, other_result)
    ]
    if reasons[0] and reasons[0] != reasons[1]:
        yield "reason", reasons[0]
    if outcome.before is not None and outcome.after is not None and outcome.after != other.after:
        yield "patch", patch_between(outcome.before, outcome.after)
    fields = [
        [violation.field for violation in case_outcome.deciding]
        for case_outcome in (outcome, other)
    ]
    if fields[0] and fields[0] != fields[1] and fields[0][0].startswith("spec.validations["):
        yield "validation", int(fields[0][0].partition("[")[2].partition("]")[0])


def _speaker(outcome: CaseOutcome) -> str:
    return next((violation.policy for violation in outcome.deciding), "")


_OF_REQUESTS: Final = ("name", "expect", "skip", "operation", "patch", "oldPatch")
"""JsonDict of a case that are written anew."""
_DECISIONS: Final = {
    Ruling.ALLOW: "allow",
    Ruling.DENY: "deny",
    Ruling.NO_OPINION: "noOpinion",
}


def _outcome(bench: Bench, case: Case) -> CaseOutcome | None:
    judged = bench.judged(case)
    return outcome_of(case, judged) if judged.findings.results else None


def _text(fields: dict[str, Json]) -> str:
    """YAML, one line for each field."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return "".join(f"{'- ' if i == 0 else '  '}{line}\n" for i, line in enumerate(lines))


class CaseWriter:
    """Writes cases for the test of a stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def killing_case(self, alteration: Alteration, other: Bench, generated: Generated) -> str:
        """Return the text of the case, an item of `cases`; empty if there is none that does it.
        `other` is the bench with the alteration."""
        bench = self._stage.bench
        outcome, actual = (_outcome(bench, generated.case) for bench in (bench, other))
        if outcome is None or actual is None or outcome.verdict is CaseVerdict.INVALID:
            return ""
        name = f"notices: {alteration.field} {alteration.text}".replace("`", "")
        for expect in telling_expectations(outcome, actual):
            for fields in self._versions(generated):
                case_value = {"name": name, **fields, "expect": expect}
                test = self.read(case_value)
                if test is None or run_case(bench, test).status is not Status.PASSED:
                    continue
                if run_case(other, for_altered(test, alteration)).is_bad:
                    return _text(case_value)
        return ""

    @cached_property
    def _document(self) -> Document:
        """The test as it stands in its file; for one of another tool a test of our own without
        any cases."""
        test = self._stage.test
        text = read_text(test.file)
        for item in DocumentReader().read(text) if isinstance(text, Text) else ():
            if (
                isinstance(item, Document)
                and is_policy_test(item)
                and read_test(item).name == test.name
            ):
                return item
        value = {"apiVersion": API_VERSION, "kind": KIND, "policies": [], "cases": []}
        return Document(Chunk(test.file, json.dumps(value), 1, 0, is_json=True), (), value)

    def read(self, fields: dict[str, object]) -> Case | None:
        """Return the case, as it would be if it stood in the file; None if it could not."""
        document = self._document
        value = {**document.value, "cases": [fields]}
        test = read_test(Document(document.chunk, document.path, value))
        return None if test.problems or not test.cases else test.cases[0]

    def _versions(self, generated: Generated) -> Iterator[JsonObject]:
        """Yield what it says of the request, the shortest first."""
        if generated.origin is not None:
            raw = self._raw(generated.origin)
            if raw is not None:
                shorter = self._like(raw, generated.case, generated.origin)
                if shorter is not None:
                    yield shorter
        documents = () if generated.origin is None else generated.origin.cluster
        cluster = _latest(generated.case.cluster)
        yield _whole(
            generated.case, [document for document in cluster if document not in documents]
        )
        yield _whole(generated.case, cluster)

    def _raw(self, origin: Case) -> dict[str, Json] | None:
        """Return the case as its file has it."""
        document = self._document
        for i, case in enumerate(document.value["cases"]):
            if document.line(("cases", i)) == origin.place.line:
                result: dict[str, Json] = case
                return result
        return None

    def _like(self, raw: JsonObject, case: Case, origin: Case) -> dict[str, Json] | None:
        """Return the case of the file with what is different."""
        result = {key: value for key, value in raw.items() if key not in _OF_REQUESTS}
        base = self.read(
            {**result, "name": "base", "operation": "CREATE", "patch": [], "expect": "admit"}
        )
        if base is None:
            return None
        test_case = dict(result)
        if case.operation is not Operation.CREATE or "operation" in self._defaults:
            test_case["operation"] = case.operation.value
        patch = patch_between(base.object.value, case.object.value)
        if patch or "patch" in self._defaults:
            test_case["patch"] = patch
        is_old = case.old is not None and case.old.value == base.object.value
        if case.operation is Operation.UPDATE and case.old is not None and not (is_old and patch):
            test_case["oldObject"] = case.old.value
        test_case |= _user(case) if case.user != origin.user else {}
        more = [
            document.value for document in _latest(case.cluster) if document not in origin.cluster
        ]
        if more:
            test_case["resources"] = [*result.get("resources", ()), *more]
        return test_case

    @property
    def _defaults(self) -> JsonObject:
        defaults: dict[str, Json] = self._document.value.get("defaults", {})
        return defaults


def _latest(documents: Iterable[Document]) -> list[Document]:
    """Return the last of those that are the same object."""
    return list({identity(document, ""): document for document in documents}.values())


def _whole(case: Case, cluster: list[Document]) -> JsonDict:
    """Everything, whatever the test has for defaults."""
    result: dict[str, object] = {"operation": case.operation.value, "object": case.object.value}
    if case.old is not None:
        result["oldObject"] = case.old.value
    if case.subresource:
        result["subresource"] = case.subresource
    if not metadata.namespace(case.object.value):
        result["namespace"] = case.namespace
    if case.user != ADMIN:
        result |= _user(case)
    if case.dry_run:
        result["dryRun"] = True
    if cluster:
        result["resources"] = [document.value for document in cluster]
    if case.answers:
        result["authorizer"] = [_answer(answer) for answer in case.answers]
    if case.policies:
        result["policy"] = list(case.policies)
    return result


def _user(case: Case) -> JsonDict:
    user = case.user
    result: dict[str, object] = {"user": user.name, "groups": list(user.groups)}
    if user.uid:
        result["uid"] = user.uid
    if user.extra:
        result["extra"] = {key: list(values) for key, values in user.extra.items()}
    return result


def _answer(answer: AuthorizerAnswer) -> JsonDict:
    result: dict[str, object] = {"decision": _DECISIONS[answer.ruling], **answer.attributes}
    if answer.reason:
        result["reason"] = answer.reason
    if answer.error is not None:
        result["error"] = answer.error
    return result


# --- Difference search -------------------------------------------------------
#
# The search for a request that tells a policy from an altered one.
#
# What it finds is a killing case. That it finds nothing is a proof within its bound, which it
# tells: all combinations of so many inputs with so many values (`input_combinations`).

MOST_REQUESTS: Final = 150
"""Requests that are compared before combinations are."""
_MOST_PROPOSALS: Final = 20
"""Requests that make a difference, of which each is tried as a case."""
_MOST_HIDDEN: Final = 5
"""Of those that make a difference which the answer does not show."""

_INSIDE: Final = frozenset({"validations", "mutations", "auditAnnotations"})


class Difference(NamedTuple):
    """Tells what was found when a mutant was looked for. `case` is the text of a killing case,
    empty if there is none. `requests` came to the policy and made no difference; `differs` says
    that others did, though no case could tell. `spaces` are the combinations that were asked
    without finding a case."""

    case: str
    requests: int
    differs: bool = False
    spaces: tuple[Space, ...] = ()


class DifferenceSearch:
    """The search for one policy on one stage; the requests are the same for all alterations."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._name = name
        self._writer = CaseWriter(stage)
        self._pool = RequestPool(stage.bench, stage.cases, name)
        engines = stage.bench.setting(stage.cases[0]).engines
        inputs = PolicyInputs(compiled_policy(engines, name))
        self._combinations = InputCombinations(self._pool, inputs, name)

    def difference(self, alteration: Alteration) -> Difference:
        """Return what the search comes to."""
        other = altered_bench(self._stage.bench, alteration)
        inside = self._is_inside(alteration)
        alike = proposals = 0
        hidden: list[Generated] = []
        spaces: list[Space] = []
        for request in self._requests(alteration, spaces):
            before = request.glance
            if inside and self._name not in before.reached:
                continue
            after = glance(other, request.case, None if is_mutating(alteration) else before.sent)
            is_same = after.seen == before.seen
            if is_same or as_original(after.shown, alteration) == before.shown:
                alike += self._name in before.reached
            elif after.answer == before.answer:
                hidden.append(request)
            elif proposals < _MOST_PROPOSALS:
                proposals += 1
                case = self._writer.killing_case(alteration, other, request)
                if case:
                    return Difference(case, alike, differs=True)
        case = self._first_case(alteration, other, hidden)
        return Difference(case, alike, proposals > 0 or bool(hidden), tuple(spaces))

    def case_of(self, alteration: Alteration, case: Case) -> str:
        """Return the text of a killing case that asks this, empty if that does not tell the two
        apart, or cannot be asked."""
        generated = self._pool.taken(case, None)
        other = altered_bench(self._stage.bench, alteration)
        return "" if generated is None else self._writer.killing_case(alteration, other, generated)

    def _first_case(self, alteration: Alteration, other: Bench, requests: list[Generated]) -> str:
        """Return the first of the requests whose answer is the same that a case tells apart all the
        same."""
        cases = (
            self._writer.killing_case(alteration, other, generated)
            for generated in requests[:_MOST_HIDDEN]
        )
        return next(filter(None, cases), "")

    def _requests(self, alteration: Alteration, spaces: list[Space]) -> Iterator[Generated]:
        """Yield some requests that are likely to make a difference, then all combinations within
        bounds, which are put to `spaces`."""
        identities = set()
        for generated in self._pool.first(MOST_REQUESTS):
            identities.add(id(generated))
            yield generated
        for space in self._combinations.spaces(alteration):
            spaces.append(space)
            for generated in space.requests:
                if id(generated) not in identities:
                    identities.add(id(generated))
                    yield generated

    def _is_inside(self, alteration: Alteration) -> bool:
        """Return whether it shows only where the policy is evaluated."""
        path = alteration.path
        return path[:1] == ("spec",) and path[1] in _INSIDE


# --- Equality proofs ---------------------------------------------------------
#
# Alterations that are proved to make no difference, with the reason in a line.
#
# What is proved holds for any request to the clusters of the tests, not only for those of a
# search.

_LOGIC: Final = "both come to the same for any values"
_OBJECT: Final = "the API server makes the same of both"
_ALONE: Final = "nothing else in the tests changes objects, so no policy is asked again"


def proof(alteration: Alteration, stages: Sequence[Stage]) -> str:
    """Return why it makes no difference on any stage; empty if that is not proved."""
    if alteration.expression is not None:
        text = str(alteration.document.value_at(alteration.path))
        return _LOGIC if is_same(text, alteration.expression.text) else ""
    settings = [stage.bench.setting(case) for stage in stages for case in stage.cases]
    if is_same_object(alteration, settings[0].sets):
        return _OBJECT
    match alteration.path:
        case ("spec", "reinvocationPolicy"):
            mutate_together = (len(setting.sets.mutating.policies) > 1 for setting in settings)
            return "" if any(mutate_together) else _ALONE
        case ("spec", *_, "matchPolicy"):
            return _of_versions(alteration, settings)
        case _:
            return ""


def _of_versions(alteration: Alteration, settings: Sequence[Cluster]) -> str:
    """Return what the policy of matching is about: objects that are sent in another version, or
    another group, than rules name."""
    value: Any = alteration.document.value_at(alteration.path[:-1])
    constraints: JsonObject = value or {}
    rules = [
        *(constraints.get("resourceRules") or ()),
        *(constraints.get("excludeResourceRules") or ()),
    ]
    catalogs = {id(setting.world.catalog): setting.world.catalog for setting in settings}.values()
    named = [list(_named(rules, catalog)) for catalog in catalogs]
    if any(several for groups in named for _, several in groups):
        return ""
    names = sorted({name for groups in named for name, _ in groups})
    if not names:
        return ""
    text = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"of {text} one version is served"


def _named(rules: Sequence[JsonObject], catalog: Catalog) -> Iterator[tuple[str, bool]]:
    """Resources that rules name, and whether they are served in several versions."""
    for resource in catalog:
        if any(
            _names(rule, resource.gvr.group, resource.gvr.version, resource.gvr.resource)
            for rule in rules
        ):
            yield str(resource.gvr.group_resource), bool(catalog.equivalents(resource.gvr))


def _names(rule: JsonObject, group: str, version: str, resource: str) -> bool:
    resources = {resource.partition("/")[0] for resource in rule.get("resources") or ()}
    return all(
        {value, "*"} & item
        for value, item in (
            (group, set(rule.get("apiGroups") or ())),
            (version, set(rule.get("apiVersions") or ())),
            (resource, resources),
        )
    )


def run_alterations(
    chosen: Sequence[tuple[PolicyTest, Sequence[Case]]],
    versions: Sequence[str],
    jobs: int,
    step: Callable[[int], None],
) -> Alterations:
    """Run the alterations of all policies that the chosen cases are about. `versions` are for tests
    that name none; `step` is told how many policies are done."""
    work = sorted(stages(chosen, versions).items(), key=lambda pair: pair[0])
    workers = max(1, min(possible_workers(jobs), len(work)))
    results: list[Alterations] = []
    with ExitStack() as stack:
        pipes = [
            started(functools.partial(_some, work[first::workers]), stack)
            for first in range(workers if workers > 1 else 0)
        ]
        for number, (policy, policy_stages) in enumerate(work):
            result = received(pipes[number % workers]) if pipes else None
            results.append(policy_alterations(policy, policy_stages) if result is None else result)
            step(number + 1)
    return all_alterations(results)


def _some(work: Sequence[tuple[Measured, list[Stage]]]) -> Iterator[Alterations]:
    for policy, policy_stages in work:
        yield policy_alterations(policy, policy_stages)


def policy_alterations(policy: Measured, policy_stages: Sequence[Stage]) -> Alterations:
    """Run the alterations of one policy, on all its stages."""
    searches = [DifferenceSearch(stage, policy.name) for stage in policy_stages]
    proofs = [MutantProofs(stage, policy.name) for stage in policy_stages] if can_prove() else []
    results = [
        _result(policy, alteration, policy_stages, searches, proofs)
        for alteration in alterations(policy_stages[0].documents)
        if all(stage.is_valid(alteration, policy.name) for stage in policy_stages)
    ]
    return Alterations(tuple(sorted(results, key=lambda result: result.place.line)))


def _result(
    policy: Measured,
    alteration: Alteration,
    policy_stages: Sequence[Stage],
    searches: Sequence[DifferenceSearch],
    proofs: Sequence[MutantProofs],
) -> AlterationResult:
    place = Place(alteration.document.file, alteration.document.line(alteration.path))
    result = functools.partial(
        AlterationResult, policy, alteration.kind, place, alteration.field, alteration.text
    )
    killers = (stage.killer(alteration) for stage in policy_stages)
    killer = next((killer for killer in killers if killer is not None), None)
    if killer is not None:
        return result(Fate.KILLED, killer)
    reason = proof(alteration, policy_stages)
    if reason:
        return result(Fate.SAME, reason=reason)
    alike, differs = 0, False
    spaces: list[Space] = []
    for search in searches:
        difference: Difference = search.difference(alteration)
        alike, differs = alike + difference.requests, differs or difference.differs
        spaces += difference.spaces
        if difference.case:
            return result(
                Fate.SURVIVED, requests=alike, diff=diff(alteration), case=difference.case
            )
    if not differs:
        proved = [proofs.proof(alteration) for proofs in proofs]
        for search, proof_result in zip(searches, proved, strict=False):
            case = (
                "" if proof_result.case is None else search.case_of(alteration, proof_result.case)
            )
            if case:
                return result(Fate.SURVIVED, requests=alike, diff=diff(alteration), case=case)
        if proved and all(proof_result.is_proved for proof_result in proved):
            limits = "; ".join(
                dict.fromkeys(filter(None, (proof_result.bound for proof_result in proved)))
            )
            return result(Fate.ALIKE if limits else Fate.SAME, reason=limits or EVERYWHERE_SAME)
    if differs or not alike:
        fate = Fate.SURVIVED if differs else Fate.UNREACHED
        return result(fate, requests=alike, diff=diff(alteration))
    varied = frozenset[str]().union(*(space.varied for space in spaces))
    fixed = dict.fromkeys(name for space in spaces for name in space.fixed if name not in varied)
    if fixed:
        return result(Fate.OPEN, requests=alike, diff=diff(alteration), reason=", ".join(fixed))
    bounds = dict.fromkeys(space.bound for space in spaces)
    return result(Fate.ALIKE, requests=alike, reason="; ".join(bounds))
