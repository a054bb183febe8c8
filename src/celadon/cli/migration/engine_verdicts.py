"""`--against`: requests of which the old engine's verdict is known, put to the translation.

Audit logs have the denial of a webhook in the status of the answer; AdmissionReviews that a webhook
has answered have it in their response; a cluster where the engine runs is asked. All of them name
the rules that refused. A request that went through was refused by no rule that refuses; of one that
was refused, nothing is known but the rules that are named.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import yaml

from celadon import admission
from celadon.admission import Operation
from celadon.admission.partial_decisions import Missing, judged_partly
from celadon.admission.registration import BINDING_KIND, POLICY_KIND
from celadon.admission.webhooks import REVIEW_KIND
from celadon.admission.write_requests import request_of
from celadon.apiserver.clientconfig import ClusterLocation
from celadon.cli import audit_logs
from celadon.cli.audit.audit_inputs import preparation
from celadon.cli.audit.cluster_audit import path_of, patiently
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.migration import migration_run
from celadon.cli.migration.migration_run import Parameter, RecordedRequests
from celadon.cli.reading.documents import Document, Problem, read_documents
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User, metadata
from celadon.kube.json_types import JsonDict, Needed, Shape, misfit
from celadon.kube.registry import Target
from celadon.kube.releases import current_release
from celadon.kube.resources import Catalog, Resource
from celadon.webhook import cluster

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
            counts.left_out["no translated rule can be compared with it"] += 1


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
        logged = None if line.event is None else audit_logs.logged(line.event)
        # An audit log tells of a request at several stages; only the last one has the answer.
        if logged is None or logged.event.get("stage") not in (None, "ResponseComplete"):
            continue
        refusing: frozenset[RuleName] | None = None
        if logged.code >= _REFUSED:
            message = audit_logs.text(
                audit_logs.mapping(logged.event.get("responseStatus")).get("message")
            )
            # A refusal that names no rule came from elsewhere (RBAC, validation, another webhook):
            # it says nothing of what the old engine thinks.
            refusing = refusing_rules(webhook_text(message))
            if not refusing:
                counts.left_out["refused by others"] += 1
                continue
        kind = audit_logs.kind_of(logged, judge.world.catalog)
        request = (
            audit_logs.Undecidable.KIND
            if kind is None
            else audit_logs.request_of_event(logged, kind, judge.prepare)
        )
        if isinstance(request, audit_logs.Undecidable):
            counts.left_out[request.value] += 1
        else:
            # No log and no review says which roles the user had.
            missing = (*logged.missing, Missing.ROLES)
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
                counts.left_out["refused by others" if request else "no operation"] += 1
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


_QUERY: Final = {"dryRun": "All", "fieldManager": "celadon"}
"""Of every object that is sent."""
_REVIEW_OF_SELF: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_SELF: Final[Shape] = {
    "status": Needed(
        {"userInfo": Needed({"username": str, "uid": str, "groups": [str], "extra": {str: [str]}})}
    )
}
_TAKEN: Final = 409

_SERVERS_OWN: Final = (
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"),
    *("managedFields", "resourceVersion", "selfLink", "uid"),
)
"""Fields of metadata that a server fills in, and some of which it does not take."""
_ALLOCATED: Final = ("clusterIP", "clusterIPs", "healthCheckNodePort")
"""Of Services: what is given to one cannot be given to another."""


# --- Verdicts of a cluster ----------------------------------------------------
#
# `--against cluster`: objects are sent to a cluster where the old engine runs, as creations with
# `dryRun=All`, and what it says of them is its verdict.
#
# Nothing is written. A server goes through admission for a dry run as ever, and stores nothing;
# webhooks have declared that they have no side effects then. Only servers that
# say in their OpenAPI document that they know `dryRun` are asked: one behind an APIService may not,
# and would create the object. Creations are judged before a server looks whether the name is taken,
# so what exists can be asked about, too.
#
# What goes through is judged as the answer has it, with all that mutating webhooks have done. What
# is refused is judged as it was sent, with its defaults.
#
# Apart from the other records, which need none of the packages that speak to a server
# (`celadon[serve]`).


def answers_of_cluster(
    location: ClusterLocation,
    step: Callable[[int], None],
    path: str,
    params: Collection[Parameter],
    counts: RecordedRequests,
) -> ClusterAnswers:
    """Send the objects of a file or folder to a cluster; return what it has said of each. What
    cannot be sent, or says nothing, is counted. `step` is told how many it has come to."""
    return asyncio.run(_answers(location, step, path, params, counts))


async def _answers(
    location: ClusterLocation,
    step: Callable[[int], None],
    path: str,
    params: Collection[Parameter],
    counts: RecordedRequests,
) -> ClusterAnswers:
    client = cluster.ClusterClient(location)
    answers = ClusterAnswers()
    try:
        catalog = cluster.cluster_catalog(await cluster.discover(client), [])
        trial = _Trial(client, catalog, await _own_user(client), counts)
        for number, document in enumerate(read_documents([path])):
            if isinstance(document, Problem):
                answers.records.append(document)
            else:
                answers.records += await trial.sent(document)
            step(number + 1)
        answers.existing += await _looked_up(client, catalog, trial.namespaces, params)
    except cluster.ClusterError as error:
        answers.records.append(Problem(location.cluster.server, 0, str(error)))
    finally:
        await client.aclose()
    return answers


async def _own_user(client: cluster.ClusterClient) -> User:
    """Return who the cluster takes us for. Raises ClusterError."""
    group_version, _, _ = _REVIEW_OF_SELF.removeprefix("/apis/").rpartition("/")
    body = {"apiVersion": group_version, "kind": "SelfSubjectReview"}
    answer = await client.create(_REVIEW_OF_SELF, body)
    wrong = misfit(answer, _SELF)
    if wrong is not None:
        raise cluster.ClusterUnreachable(f"POST {_REVIEW_OF_SELF}: {wrong}")
    user = answer["status"]["userInfo"]
    return User(
        user.get("username") or "",
        tuple(user.get("groups") or ()),
        user.get("uid") or "",
        {key: tuple(member or ()) for key, member in (user.get("extra") or {}).items()},
    )


async def _looked_up(
    client: cluster.ClusterClient,
    catalog: Catalog,
    namespaces: Iterable[str],
    params: Iterable[Parameter],
) -> list[JsonObject]:
    """Return the namespaces and params that can be read: of others only the name is known, and
    rules without their params are not judged."""
    expected = [f"/api/v1/namespaces/{namespace}" for namespace in sorted(namespaces)]
    for param in params:
        resource = catalog.by_gvk(param.kind)
        if resource is not None:
            inside = param.namespace if resource.namespaced else ""
            expected.append(f"{_collection(resource, inside)}/{param.name}")
    result: list[JsonObject] = []
    for path in expected:
        try:
            result.append(await client.get(path))
        except cluster.ClusterRefusal:
            continue
    return result


def _collection(resource: Resource, namespace: str) -> str:
    """Return where an object of a resource is created."""
    path = path_of(resource)
    if not namespace:
        return path
    parent, _, name = path.rpartition("/")
    return f"{parent}/namespaces/{namespace}/{name}"


class _Trial:
    """Sends objects, one after the other, and reads what is said of them."""

    def __init__(
        self, client: cluster.ClusterClient, catalog: Catalog, user: User, counts: RecordedRequests
    ) -> None:
        self._client = client
        self._catalog = catalog
        self._user = user
        self._counts = counts
        self._dry_runs: dict[str, frozenset[str]] = {}
        """By group and version, the collections in which a creation may be a dry run."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._prepare: Prepare = preparation((), user, now, current_release())
        self.namespaces: set[str] = set()
        """Those of all objects that were sent."""

    async def sent(self, document: Document) -> list[Recorded]:
        """Send an object; return what was said, nothing where that says nothing of the engine.
        Raises ClusterUnreachable."""
        resource = self._catalog.by_gvk(metadata.gvk(document.value))
        if resource is None:
            return self._left("the cluster does not serve their kind")
        if not {"create", "get"} <= set(resource.verbs):
            return self._left("objects of their kind are not stored")
        if not await self._knows_dry_runs(resource):
            return self._left("their server does not say that it knows dry runs")
        body = _anew(document.value)
        namespace = ""
        if resource.namespaced:
            text = metadata.namespace(body)
            namespace = text or self._client.location.namespace
            body["metadata"]["namespace"] = namespace
            self.namespaces.add(namespace)
        path = _collection(resource, namespace)
        self._counts.sent_count += 1
        try:
            answer = await patiently(lambda: self._client.request("POST", path, body, query=_QUERY))
        except cluster.ClusterRefusal as refusal:
            if refusal.code != _TAKEN or refusal.status.get("reason") != "AlreadyExists":
                return self._refused(document, resource, body, refusal)
            # Admission is over when a server finds that there is one of the name already.
            return self._recorded(document, resource, self._filled_in(body, resource), None)
        return self._recorded(document, resource, answer, None)

    def _refused(
        self,
        document: Document,
        resource: Resource,
        body: JsonDict,
        refusal: cluster.ClusterRefusal,
    ) -> list[Recorded]:
        message = str(refusal.status.get("message") or "")
        denial = webhook_text(message)
        refusing = refusing_rules(denial) if denial else frozenset()
        if refusing:
            filled_in = self._filled_in(body, resource)
            return self._recorded(document, resource, filled_in, refusing)
        reason = str(refusal.status.get("reason") or refusal.code)
        detail = f"refused by others ({reason})"
        self._counts.examples.setdefault(detail, f"{document.position()}: {message}")
        return self._left(detail)

    def _left(self, reason: str) -> list[Recorded]:
        self._counts.left_out[reason] += 1
        return []

    def _filled_in(self, body: JsonDict, resource: Resource) -> JsonDict | None:
        """Return an object with its defaults; None where it cannot be read."""
        target = Target(resource, metadata.namespace(body))
        created = self._prepare.created(Document.of_value(body), target)
        return None if isinstance(created, Problem) else created.value

    def _recorded(
        self,
        document: Document,
        resource: Resource,
        obj: JsonDict | None,
        refusing: frozenset[RuleName] | None,
    ) -> list[Recorded]:
        if obj is None:
            return self._left("their objects cannot be read")
        target = Target(resource, metadata.namespace(obj))
        request = request_of(target, Operation.CREATE, obj, None, self._user, dry_run=True)
        return [Recorded(document.position(), request, (Missing.ROLES,), refusing)]

    async def _knows_dry_runs(self, resource: Resource) -> bool:
        """Return whether a creation in a collection of a resource may be a dry run."""
        collection = path_of(resource).rpartition("/")[0]
        if collection not in self._dry_runs:
            try:
                document = await self._client.get(f"/openapi/v3{collection}")
            except cluster.ClusterRefusal:
                document = {}
            self._dry_runs[collection] = frozenset(_dry_runs_of(document))
        path = _collection(resource, "{namespace}" if resource.namespaced else "")
        return path in self._dry_runs[collection]


def _dry_runs_of(document: JsonObject) -> Iterator[str]:
    """Yield the paths of an OpenAPI document to which dry runs may be posted."""
    paths: Any = document.get("paths")
    for path, item in paths.items() if isinstance(paths, dict) else ():
        creation = item.get("post") if isinstance(item, dict) else None
        parameters = creation.get("parameters") if isinstance(creation, dict) else None
        named: Sequence[Any] = parameters if isinstance(parameters, list) else ()
        if any(isinstance(item, dict) and item.get("name") == "dryRun" for item in named):
            yield path


def _anew(value: JsonObject) -> JsonDict:
    """Return an object as it may have been sent when it was created."""
    about = metadata.metadata(value)
    result: JsonDict = {name: member for name, member in value.items() if name != "status"}
    result["metadata"] = {
        name: member for name, member in about.items() if name not in _SERVERS_OWN
    }
    spec = value.get("spec")
    if metadata.gvk(value).group_kind == ("", "Service") and isinstance(spec, dict):
        result["spec"] = _without_allocated(spec)
    return result


def _without_allocated(spec: JsonObject) -> JsonDict:
    """Return the spec of a Service without addresses and ports that it was given."""
    is_headless = spec.get("clusterIP") == "None"
    fields = {
        name: member for name, member in spec.items() if is_headless or name not in _ALLOCATED
    }
    ports: Any = spec.get("ports")
    if isinstance(ports, list):
        fields["ports"] = [
            {name: value for name, value in port.items() if name != "nodePort"}
            if isinstance(port, dict)
            else port
            for port in ports
        ]
    return fields
