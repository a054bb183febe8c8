"""`--against`: requests of which the old engine's verdict is known, put to the translation.

Audit logs have the denial of a webhook in the status of the answer; AdmissionReviews that a webhook
has answered have it in their response; a cluster where the engine runs is asked
(`cluster_verdicts`). All of them name the rules that refused. A request that went through was
refused by no rule that refuses; of one that was refused, nothing is known but the rules that are
named.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import yaml

from celadon import admission
from celadon.admission.partial_decisions import Missing, judged_partly
from celadon.admission.registration import BINDING_KIND, POLICY_KIND
from celadon.admission.webhooks import REVIEW_KIND
from celadon.cli import audit_logs
from celadon.cli.audit.audit_inputs import preparation
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.migration import migration_run
from celadon.cli.reading.documents import Problem, read_documents
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User, metadata
from celadon.kube.json_types import Needed, Shape, misfit
from celadon.kube.releases import current_release

_MOST: Final = 1000
"""Differences that are kept of a rule."""
_REFUSED: Final = 400

RuleName = tuple[str, str]
"""A policy and a rule of it; of policies in CEL no rule, of constraints no policy."""


class Recorded(NamedTuple):
    """A request, and what the engine has said: the rules that refused; None if nobody did."""

    place: str
    request: admission.Request
    missing: tuple[Missing, ...]
    refusing: frozenset[RuleName] | None


@dataclass(slots=True)
class ClusterAnswers:
    """The answers of a cluster, and what it has that matters to the translation."""

    records: list[Recorded | Problem] = field(default_factory=list)
    existing: list[JsonObject] = field(default_factory=list)
    """The namespaces of the objects, and the params of policies."""


AskCluster = Callable[
    [str, Collection[migration_run.Parameter], migration_run.RecordedRequests], ClusterAnswers
]
"""Asks a cluster about the objects of a file or folder; it is told which params matter, and counts
what it sends."""


def compare_recorded(
    migration: migration_run.Migration,
    sources: Iterable[Sequence[str]],
    ask_cluster: AskCluster | None = None,
) -> None:
    """Put requests to a translation; what it says otherwise is noted with its rules. `sources` are
    pairs of `audit-log`, `webhook` or `cluster` and a path."""
    counts = migration.recorded = migration_run.RecordedRequests()
    existing = list(migration.existing)
    records: list[Recorded | Problem] = []
    for source, path in sources:
        if source == "cluster" and ask_cluster is not None:
            answers = ask_cluster(path, params_of(migration.outcomes), counts)
            existing += answers.existing
            records += answers.records
    judge = _Judge(migration.outcomes, existing, counts)
    result: list[Iterable[Recorded | Problem]] = [records]
    for source, path in sources:
        if source == "audit-log":
            result.append(_of_logs(path, judge, counts))
        elif source == "webhook":
            result.append(_of_reviews(path, counts))
    for item in itertools.chain.from_iterable(result):
        if isinstance(item, Problem):
            migration.problems.append(item)
        elif judge.compare(item):
            counts.compared += 1
        else:
            counts.left["no translated rule can be compared with it"] += 1


# --- Denials -----------------------------------------------------------------


_BLOCKED: Final = "was blocked due to the following policies"
_OF_WEBHOOK: Final = re.compile(
    r'\Aadmission webhook "([^"]*)" denied the request: (.*)\Z', re.ASCII | re.DOTALL
)
_OF_CEL: Final = re.compile(r"\bPolicy (\S+) (?:failed|error): ", re.ASCII)
_OF_CONSTRAINT: Final = re.compile(r"^\[([a-z0-9.-]+)\] ", re.ASCII | re.MULTILINE)


def webhook_text(message: str) -> str:
    """Return what a webhook has said, of the message of a server that it made refuse something;
    empty of other messages."""
    denial = _OF_WEBHOOK.match(message)
    return denial[2] if denial is not None else ""


def refusing_rules(message: str) -> frozenset[RuleName]:
    """Return the rules that a denial of Kyverno or Gatekeeper names; none of other denials."""
    # Kyverno lists what refused as YAML behind a sentence; its policies in CEL, and Gatekeeper,
    # name theirs in the text (`Policy NAME failed: `, `[constraint] `).
    before, blocked, after = message.partition(_BLOCKED)
    if blocked:
        return frozenset(_of_blocks(after))
    in_cel = [(name, "") for name in _OF_CEL.findall(before)]
    return frozenset(in_cel or [("", name) for name in _OF_CONSTRAINT.findall(before)])


def _of_blocks(written: str) -> Iterator[RuleName]:
    """Yield the rules of Kyverno's list: rules below policies, each with what it says."""
    try:
        policies = yaml.safe_load(written)
    except yaml.YAMLError:
        return
    for policy, rules in audit_logs.mapping(policies).items():
        for rule in audit_logs.mapping(rules):
            # The rules that Kyverno makes for controllers of Pods are forms of one rule of the
            # file.
            for prefix in ("autogen-cronjob-", "autogen-"):
                rule = str(rule).removeprefix(prefix)
            yield str(policy), rule


# --- Requests ----------------------------------------------------------------


def _of_logs(
    path: str, judge: _Judge, counts: migration_run.RecordedRequests
) -> Iterator[Recorded | Problem]:
    for line in audit_logs.read_events(audit_logs.log_files([path])):
        if isinstance(line, Problem):
            yield line
            continue
        none = None if line.event is None else audit_logs.logged(line.event)
        # An audit log tells of a request at several stages; only the last one has the answer.
        if none is None or none.event.get("stage") not in (None, "ResponseComplete"):
            continue
        refusing: frozenset[RuleName] | None = None
        if none.code >= _REFUSED:
            message = audit_logs.text(
                audit_logs.mapping(none.event.get("responseStatus")).get("message")
            )
            # A refusal that names no rule came from elsewhere (RBAC, validation, another webhook):
            # it says nothing of what the old engine thinks.
            refusing = refusing_rules(webhook_text(message))
            if not refusing:
                counts.left["refused by others"] += 1
                continue
        kind = audit_logs.kind_of(none, judge.world.catalog)
        request = (
            audit_logs.Undecidable.KIND
            if kind is None
            else audit_logs.request_of_event(none, kind, judge.prepare)
        )
        if isinstance(request, audit_logs.Undecidable):
            counts.left[request.value] += 1
        else:
            # No log and no review says which roles the user had.
            missing = (*none.missing, Missing.ROLES)
            yield Recorded(f"{line.file}:{line.line}", request, missing, refusing)


_NAMED: Final[Shape] = {"group": str, "version": Needed(str)}
_REVIEW: Final[Shape] = {
    "request": Needed(
        {
            "operation": Needed(str),
            "kind": Needed({**_NAMED, "kind": Needed(str)}),
            "resource": Needed({**_NAMED, "resource": Needed(str)}),
            **dict.fromkeys(("name", "namespace", "subResource"), str),
            "userInfo": {"username": str, "uid": str, "groups": [str], "extra": {str: [str]}},
            "dryRun": bool,
            "object": {},
            "oldObject": {},
        }
    ),
    "response": Needed({"allowed": Needed(bool), "status": {"message": str}}),
}


def _of_reviews(path: str, counts: migration_run.RecordedRequests) -> Iterator[Recorded | Problem]:
    for document in read_documents([path]):
        if isinstance(document, Problem):
            yield document
        elif document.group_kind == ("admission.k8s.io", REVIEW_KIND):
            wrong = misfit(document.value, _REVIEW)
            if wrong is not None:
                yield Problem(document.file, document.line(wrong.path), str(wrong))
                continue
            response = document.value["response"]
            message = (response.get("status") or {}).get("message") or ""
            refusing = None if response["allowed"] else refusing_rules(message)
            request = _request(document.value["request"])
            if request is None or refusing == frozenset():
                counts.left["refused by others" if request else "no operation"] += 1
            else:
                yield Recorded(document.position(), request, (Missing.ROLES,), refusing)


def _request(review_request: JsonObject) -> admission.Request | None:
    """Return the request of a review."""
    operation = {operation.value: operation for operation in admission.Operation}.get(
        review_request["operation"]
    )
    if operation is None:
        return None
    kind, resource, user = (
        review_request["kind"],
        review_request["resource"],
        review_request.get("userInfo") or {},
    )
    dry_run = bool(review_request.get("dryRun"))
    return admission.Request(
        operation,
        GroupVersionKind(kind.get("group") or "", kind["version"], kind["kind"]),
        GroupVersionResource(
            resource.get("group") or "", resource["version"], resource["resource"]
        ),
        subresource=review_request.get("subResource") or "",
        name=review_request.get("name") or "",
        namespace=review_request.get("namespace") or "",
        object=review_request.get("object"),
        old_object=review_request.get("oldObject"),
        user=User(
            user.get("username") or "",
            tuple(user.get("groups") or ()),
            user.get("uid") or "",
            {key: tuple(member or ()) for key, member in (user.get("extra") or {}).items()},
        ),
        dry_run=dry_run,
        options=admission.default_options(operation, dry_run=dry_run),
    )


# --- Verdicts ----------------------------------------------------------------


class _Judge:
    """Judges requests by the translation."""

    def __init__(
        self,
        outcomes: Sequence[migration_run.RuleOutcome],
        existing: Sequence[JsonObject],
        counts: migration_run.RecordedRequests,
    ) -> None:
        documents = [document for outcome in outcomes for document in outcome.translation.documents]
        # Params and their definitions: the translation brings them along.
        more_documents = [
            document
            for document in documents
            if document["kind"] not in (POLICY_KIND, BINDING_KIND)
        ]
        self.world = admission.ObjectWorld([*existing, *more_documents], implicit_namespaces=True)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.prepare: Prepare = preparation((), admission.ADMIN, now, current_release())
        self._engine = admission.Engine(
            [
                admission.decode_policy(document).value
                for document in _unique(documents, POLICY_KIND)
            ],
            [
                admission.decode_binding(document).value
                for document in _unique(documents, BINDING_KIND)
            ],
        )
        existing_params = {
            migration_run.Parameter(
                metadata.gvk(element), metadata.namespace(element), metadata.name(element)
            )
            for element in (*existing, *more_documents)
        }
        self._rules: list[_JudgedRule] = []
        for item in outcomes:
            bindings = _bindings(item)
            lacking = params_of([item]) - existing_params
            counts.without_params += [
                f"{item.position}: {kind.kind} {namespace + '/' if namespace else ''}{name}"
                for kind, namespace, name in sorted(lacking)
            ]
            if bindings and not lacking:
                self._rules.append(_JudgedRule(item, bindings))

    def compare(self, recorded: Recorded) -> bool:
        """Note what is said otherwise; return whether anything could be compared."""
        verdict = judged_partly(self._engine, recorded.request, self.world, recorded.missing)
        denials: dict[RuleName, str] = {
            (decision.policy, decision.binding): decision.message
            for decision in verdict.decisions
            if decision.action is admission.Action.DENY
        }
        compared = False
        for rule in self._rules:
            theirs = rule.verdict(recorded.refusing)
            message = next(
                (denials[binding] for binding in rule.bindings if binding in denials), None
            )
            names = {policy for policy, _ in rule.bindings}
            if theirs is None or (message is None and names & set(verdict.undecided)):
                continue
            if theirs == "pass" and not names & set(verdict.matched):
                continue
            compared = True
            ours = "pass" if message is None else "fail"
            rule.note(recorded, theirs, ours, message or "")
        return compared


def _unique(documents: Iterable[JsonObject], kind: str) -> list[JsonObject]:
    """Return the documents of a kind, each once: constraints share the policy of their template."""
    return list(
        {
            document["metadata"]["name"]: document
            for document in documents
            if document["kind"] == kind
        }.values()
    )


def params_of(outcomes: Iterable[migration_run.RuleOutcome]) -> set[migration_run.Parameter]:
    """Return the objects that bindings name as params."""
    result: set[migration_run.Parameter] = set()
    for outcome in outcomes:
        documents = outcome.translation.documents
        kinds = {
            item["metadata"]["name"]: item["spec"].get("paramKind")
            for item in documents
            if item["kind"] == POLICY_KIND
        }
        for document in documents:
            kind = (
                kinds.get(document["spec"]["policyName"])
                if document["kind"] == BINDING_KIND
                else None
            )
            reference = document["spec"].get("paramRef") if kind else None
            if reference and reference.get("name"):
                inside = reference.get("namespace") or ""
                result.add(migration_run.Parameter(metadata.gvk(kind), inside, reference["name"]))
    return result


def _bindings(outcome: migration_run.RuleOutcome) -> Mapping[RuleName, Any]:
    """Return the bindings of a rule, by policy and name, each with its actions."""
    return {
        (document["spec"]["policyName"], document["metadata"]["name"]): document["spec"][
            "validationActions"
        ]
        for document in outcome.translation.documents
        if document["kind"] == BINDING_KIND
    }


@dataclass
class _JudgedRule:
    """A rule with its bindings."""

    outcome: migration_run.RuleOutcome
    bindings: Mapping[RuleName, Any]

    def verdict(self, refusing: frozenset[RuleName] | None) -> str | None:
        """Return what the engine has said by this rule: nothing by one that only reports, or where
        others have refused."""
        origin = self.outcome.translation.origin
        if refusing is None:
            refuses = any("Deny" in actions for actions in self.bindings.values())
            return "pass" if refuses else None
        name = ("", origin.rule) if self.outcome.home else (origin.policy, origin.rule)
        return "fail" if name in refusing else None

    def note(self, recorded: Recorded, theirs: str, ours: str, message: str) -> None:
        """Count a case, and keep the request if both say something else."""
        self.outcome.cases += 1
        if ours == theirs or len(self.outcome.differences) >= _MOST:
            return
        request = recorded.request
        value = request.object or request.old_object or {"metadata": {"name": request.name}}
        where = f"{recorded.place} ({request.operation.value})"
        remark = f"{where}: {message}" if message else where
        named = {"kind": request.kind.kind, **value}
        self.outcome.differences.append(migration_run.Difference(named, theirs, ours, remark))
