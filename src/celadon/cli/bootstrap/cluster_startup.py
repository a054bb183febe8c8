"""The course of a cluster that comes up: the steps of the tables in `steps/`, and those that the
given policies and webhooks need themselves."""

from __future__ import annotations

import enum
import functools
import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from typing import Any, Final

from celadon.admission import ObjectWorld, Operation
from celadon.admission.registration import Policy
from celadon.admission.webhooks import Call, NoReply, Reply, call_url
from celadon.cli.check.check_report import ObjectResult
from celadon.cli.check.cluster import Circumstances, Cluster, engines_of, given_world
from celadon.cli.check.document_requests import Question, identity, user_info
from celadon.cli.check.manifests import (
    Manifests,
    PolicySet,
    PolicySets,
    WebhookDocuments,
    webhook_documents,
)
from celadon.cli.check.notices import Findings, Sightings
from celadon.cli.check.object_chain import AnsweredWebhooks
from celadon.cli.check.object_judging import Judge, JudgedObject, Settings
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.reading.documents import Document, Problem
from celadon.cli.reading.locations import Chunk
from celadon.goyaml import read_yaml
from celadon.kube import JsonObject, User, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import request_bodies
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Tables of steps ---------------------------------------------------------

# The tables of what happens while a cluster comes up: YAML in `steps/`, read into values.
#
# An entry of a table is one of four things:
#
#     request: NAME      somebody (`by`) sends something: `create` an object, `update` what another
#                        entry created (with a merge patch, `merge`), or `delete` it; below it, at a
#                        `subresource`. `needs` are entries that come before. `once` is what is only
#                        written into a new cluster. Of what is created, fields that `keeps` names
#                        must keep what they hold, and those of `unchanged` must stay as they are,
#                        whatever policies make of the object.
#     state: NAME        what is so once its `needs` have come about; `otherwise` says in words what
#                        follows if they do not, and `level` how bad that is.
#     object: NAME       something that is there already (`value`).
#     use: TEMPLATE      the entries of `steps/templates/TEMPLATE.yaml`, in which words in angle
#                        brackets stand for what `with` has under that name. `"+": <name>` puts the
#                        fields of an object into the one it stands in.

TABLES: Final = (
    "api_server",
    "controllers",
    "nodes",
    "static_pods",
    "workloads",
    "running",
    "cleaning_up",
    "repairing",
)

"""In the order in which a cluster comes up."""
_WORD: Final = late_pattern(r"<([a-z-]+)>")
_SPREAD: Final = "+"
_OPERATIONS: Final = {
    "create": Operation.CREATE,
    "update": Operation.UPDATE,
    "delete": Operation.DELETE,
}


class Level(enum.IntEnum):
    """Says how bad it is that something never comes about. `DEGRADED`: a part does not work.
    `DEADLOCKED`: the cluster does not come up by itself, but somebody can still take away what
    keeps it. `LOCKED_OUT`: nobody can, through the API."""

    SAFE = 0
    DEGRADED = 1
    DEADLOCKED = 2
    LOCKED_OUT = 3

    @property
    def word(self) -> str:
        """Return the word for the level: `locked-out`."""
        return self.name.lower().replace("_", "-")


def level_of(word: str) -> Level:
    """Return the level that is called so."""
    return Level[word.upper().replace("-", "_")]


@dataclass(frozen=True, slots=True)
class Actor:
    """Sends requests: what to call them, and who they are to the server."""

    name: str
    user: User


@dataclass(frozen=True, slots=True)
class Sending:
    """A request of the tables. `document` is the object of a CREATE, None of another operation,
    which is about what `base` created; `merge` changes that. `judged` is whether policies have a
    say: of what somebody only supposes, they have not."""

    name: str
    actor: Actor
    operation: Operation
    document: Document | None = None
    base: str = ""
    merge: JsonObject | None = None
    subresource: str = ""
    needs: tuple[str, ...] = ()
    once: bool = False
    keeps: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    judged: bool = True


@dataclass(frozen=True, slots=True)
class State:
    """A state is reached once all that it `needs` has come about."""

    name: str
    needs: tuple[str, ...]
    otherwise: str
    level: Level


@dataclass(frozen=True, slots=True)
class ExistingObject:
    """An object that is there already."""

    name: str
    document: Document


Entry = Sending | State | ExistingObject


@functools.cache
def actors() -> Mapping[str, Actor]:
    """Everybody who sends requests in the tables, by name."""
    return {
        name: Actor(name, user_info(member["name"], member.get("groups", ())))
        for name, member in _value("actors").items()
    }


@functools.cache
def tables() -> tuple[Entry, ...]:
    """Return the entries of all tables, in their order."""
    return tuple(entry for name in TABLES for entry in _entries(_value(name), {}))


def from_template(name: str, values: JsonObject) -> Iterator[Entry]:
    """Yield the entries of a template, with values for its words."""
    yield from _entries(_value(f"templates/{name}"), values)


def document_of(value: JsonObject) -> Document:
    """Return an object of ours as if it stood in a file."""
    return Document(_NOWHERE, (), dict(value))


_NOWHERE: Final = Chunk("<simulated>", "", 1, 0, is_json=True)


@functools.cache
def _value(name: str) -> Any:  # noqa: ANN401 - any JSON
    text = pkgutil.get_data("celadon.cli.bootstrap", f"steps/{name}.yaml")
    assert text is not None, f"steps/{name}.yaml belongs to the package"
    ((_, value),) = read_yaml(text.decode())
    return value


def _entries(table: Sequence[JsonObject], values: JsonObject) -> Iterator[Entry]:
    for row in table:
        result = filled(row, values)
        if "use" in result:
            yield from from_template(result["use"], result["with"])
        elif "state" in result:
            needs, level = tuple(result["needs"]), level_of(result["level"])
            yield State(result["state"], needs, result["otherwise"], level)
        elif "object" in result:
            yield ExistingObject(result["object"], document_of(result["value"]))
        else:
            yield _sending(result)


def _sending(row: JsonObject) -> Sending:
    (verb,) = _OPERATIONS.keys() & row.keys()
    creates = verb == "create"
    return Sending(
        name=row["request"],
        actor=actors()[row["by"]],
        operation=_OPERATIONS[verb],
        document=document_of(row["create"]) if creates else None,
        base="" if creates else row[verb],
        merge=row.get("merge"),
        subresource=row.get("subresource", ""),
        needs=tuple(row.get("needs", ())),
        once=row.get("once", False),
        keeps=tuple(row.get("keeps", ())),
        unchanged=tuple(row.get("unchanged", ())),
        judged=row.get("judged", True),
    )


def filled(value: Any, values: JsonObject) -> Any:  # noqa: ANN401 - any JSON
    """Return a value of a template with its words replaced. A text that is one word becomes
    whatever stands for it; what no word is known for stays."""
    if isinstance(value, str):
        whole = _WORD.fullmatch(value)
        if whole is not None and whole[1] in values:
            return values[whole[1]]
        return _WORD.sub(lambda match: str(values.get(match[1], match[0])), value)
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    if isinstance(value, dict):
        result: JsonDict = {}
        for key, member in value.items():
            new = filled(member, values)
            result.update(new if key == _SPREAD else {key: new})
        return result
    return value


# --- The course --------------------------------------------------------------

# The course of a cluster with given policies: the tables, and what those policies need themselves.
#
# Params and their definitions are not there yet and are created by whoever applies the files; a
# policy whose params are missing waits for them (its gate). A webhook that fails closed and is
# behind a Service waits for that Service's pods. Where the files do not say what is behind a
# Service, a Deployment is supposed that only webhooks have a say about, since nobody knows its
# labels.

# --- Judging requests --------------------------------------------------------
#
# Judges requests of the tables one by one, as `celadon check` judges objects.
#
# What changes from one request to the next is the world (params and definitions that have come to
# be) and which webhooks answer; both are given. Policies are compiled once.

NOW: Final = "2026-01-01T00:01:00Z"
"""When all of it happens."""
_NO_SETS: Final = PolicySets(PolicySet(), PolicySet())


@dataclass(frozen=True, slots=True)
class Answer:
    """Says what becomes of a request: the result of checking it, and its object as it is written;
    or why nobody could ask. `resource` is `pods/binding`."""

    result: ObjectResult | None
    written_object: JsonObject | None
    resource: str = ""
    problems: tuple[Problem, ...] = ()


class RequestBench:
    """Sends the requests of a start to the given policies. `manifests` are what was given; those of
    them in `awaited` are not there yet."""

    def __init__(
        self, manifests: Manifests, sets: PolicySets, version: str, awaited: Sequence[Document] = ()
    ) -> None:
        self._version = version
        self._manifests = manifests
        self._engines = engines_of(sets, version)
        self._nobody = engines_of(_NO_SETS, version)
        self.webhooks: WebhookDocuments = webhook_documents(manifests.existing, version)
        self._prepared: dict[str, Prepare] = {}
        late_ids = {id(document) for document in awaited}
        installed = replace(
            manifests,
            looked_up=[
                document for document in manifests.looked_up if id(document) not in late_ids
            ],
            also_looked_up=[],
        )
        self.world, self.problems = given_world(installed, sets, self._prepare(User("")))

    @property
    def sets(self) -> PolicySets:
        """Return the policies and bindings that judge."""
        return self._engines.sets

    def judged(
        self,
        sending: Sending,
        document: Document,
        old: Document | None,
        world: ObjectWorld,
        answering: Set[str],
    ) -> Answer:
        """Return what becomes of a request about a document, in a world in which the webhooks of
        these names answer."""
        question = Question(
            sending.operation,
            subresource=sending.subresource,
            user=sending.actor.user,
            field_validation=request_bodies.IGNORE,
        )
        cluster = Cluster(
            self._engines if sending.judged else self._nobody,
            self._prepare(sending.actor.user),
            world,
            self._manifests,
            webhooks=AnsweredWebhooks.of(self.webhooks, self._version, _Awaited(answering)),
        )
        judged_objects: list[JudgedObject] = []
        findings = Findings(Sightings(wants_namespaces=False))
        olds = {} if old is None else {identity(document, question.namespace): old}
        settings = Settings(question, self._version, NOW)
        Judge.of(cluster, settings, olds, findings, judged_objects.append).take(document)
        problems = (*findings.unsendable, *findings.early_crashes, *findings.crashes)
        if not judged_objects:
            return Answer(None, None, problems=problems)
        request = judged_objects[0].document_request.request
        written = request.old_object if request.operation is Operation.DELETE else request.object
        subresource = f"/{request.subresource}" if request.subresource else ""
        return Answer(
            judged_objects[0].result, written, f"{request.resource.resource}{subresource}", problems
        )

    def _prepare(self, user: User) -> Prepare:
        prepare = self._prepared.get(user.name)
        if prepare is None:
            circumstances = Circumstances(
                self._version, NOW, user, field_validation=request_bodies.IGNORE
            )
            prepare = circumstances.preparation(self._manifests.existing)
            self._prepared[user.name] = prepare
        return prepare


@dataclass(frozen=True, slots=True)
class _Awaited:
    """Webhooks of which some answer, and admit everything."""

    answering: Set[str]

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return the answers that are known; of webhooks that do not answer, what the server says
        of a Service without pods."""
        return [self._reply(call) for call in calls]

    def _reply(self, call: Call) -> Reply | NoReply:
        service = call.client_config.service
        webhook = hook_id(call.hook.configuration, call.hook.name)
        if service is not None and webhook not in self.answering:
            url = call_url(call.client_config, call.timeout_seconds)
            return NoReply(f'Post "{url}": no endpoints available for service "{service.name}"')
        review: JsonDict = {
            "apiVersion": call.api_version,
            "kind": "AdmissionReview",
            "response": {"uid": call.uid, "allowed": True},
        }
        return Reply(200, json.dumps(review).encode())


def hook_id(configuration: str, webhook: str) -> str:
    """Names a webhook of a configuration."""
    return f"{configuration}/{webhook}"


# --- The course --------------------------------------------------------------

_IGNORE: Final = "Ignore"


@dataclass(slots=True)
class Course:
    """All entries. `gates` are the states that culprits wait for, by kind and name; `arrivals` what
    comes to be in the world once a request is done; `hooks` which webhooks answer in a state."""

    entries: list[Entry] = field(default_factory=list)
    gates: dict[tuple[str, str], str] = field(default_factory=dict)
    arrivals: dict[str, JsonObject] = field(default_factory=dict)
    hooks: dict[str, set[str]] = field(default_factory=dict)
    supposed: list[str] = field(default_factory=list)

    @property
    def sendings(self) -> list[Sending]:
        """Return the requests among the entries."""
        return [entry for entry in self.entries if isinstance(entry, Sending)]

    @property
    def states(self) -> list[State]:
        """Return the states among the entries."""
        return [entry for entry in self.entries if isinstance(entry, State)]


def awaited(manifests: Manifests, sets: PolicySets) -> list[Document]:
    """Params, and the definitions of their kinds: what is not there at the beginning."""
    kinds = {
        kind
        for part in sets.all
        for placed in part.policies.values()
        if (kind := _param(placed.value))
    }
    return [
        document
        for document in manifests.looked_up
        if document.group_kind in kinds
        or (_is_definition(document) and _defined(document) in kinds)
    ]


def course_of(manifests: Manifests, sets: PolicySets, webhooks: WebhookDocuments) -> Course:
    """Return the tables, and what the given policies and webhooks add."""
    course = Course(list(tables()))
    _add_params(course, awaited(manifests, sets), sets)
    _add_webhooks(course, manifests, webhooks)
    return course


def _param(policy: Policy) -> tuple[str, str] | None:
    kind = policy.spec.param_kind
    if kind is None:
        return None
    group, slash, _ = kind.api_version.rpartition("/")
    return (group if slash else ""), kind.kind


def _is_definition(document: Document) -> bool:
    return bool(document.value["kind"] == "CustomResourceDefinition")


def _defined(document: Document) -> tuple[str, str]:
    spec = document.value.get("spec") or {}
    return str(spec.get("group")), str((spec.get("names") or {}).get("kind"))


def _add_params(course: Course, documents: Sequence[Document], sets: PolicySets) -> None:
    served: dict[tuple[str, str], str] = {}
    for document in filter(_is_definition, documents):
        name = f"definition-{metadata.name(document.value)}"
        spec = document.value["spec"]
        versions = [version["name"] for version in spec["versions"]]
        stored = [version["name"] for version in spec["versions"] if version.get("storage")]
        values = {
            "name": name,
            "object": document.value,
            "names": spec["names"],
            "stored-versions": stored,
            "group": spec["group"],
            "version": versions[0],
        }
        course.entries += from_template("definition", values)
        served[_defined(document)] = f"{name}-served"
        course.arrivals[f"{name}-served"] = document.value
    params: dict[tuple[str, str], list[str]] = {}
    for number, document in enumerate(
        document for document in documents if not _is_definition(document)
    ):
        name = f"param-{number}"
        needs = [served[document.group_kind]] if document.group_kind in served else []
        course.entries += from_template(
            "param", {"name": name, "needs": needs, "object": document.value}
        )
        course.arrivals[name] = document.value
        params.setdefault(document.group_kind, []).append(name)
    for part, kind in ((sets.validating, "Validating"), (sets.mutating, "Mutating")):
        for placed in part.policies.values():
            param = _param(placed.value)
            if param in params:
                _add_gate(course, f"{kind}AdmissionPolicy", placed.value.name, params[param])


def _add_gate(course: Course, kind: str, policy: str, params: Sequence[str]) -> None:
    name = f"params-of-{kind}-{policy}"
    otherwise = f"the params of policy `{policy}` are not there, so it refuses what it looks at"
    course.entries.append(State(name, tuple(params), otherwise, Level.DEADLOCKED))
    course.gates[kind, policy] = name


def _add_webhooks(course: Course, manifests: Manifests, webhooks: WebhookDocuments) -> None:
    documents = [*manifests.looked_up, *manifests.admitted]
    services: dict[tuple[str, str], str] = {}
    for mutating, kind in ((True, "Mutating"), (False, "Validating")):
        for placed in webhooks.of(mutating=mutating).values():
            for webhook in placed.value.webhooks:
                service = webhook.client_config.service
                if service is None or webhook.failure_policy == _IGNORE:
                    continue
                where = service.namespace, service.name
                if where not in services:
                    services[where] = _add_service(course, documents, *where)
                gate = services[where]
                course.hooks.setdefault(gate, set()).add(hook_id(placed.value.name, webhook.name))
                course.gates[f"{kind}WebhookConfiguration", placed.value.name] = gate


def _add_service(course: Course, documents: Sequence[Document], namespace: str, name: str) -> str:
    behind = _behind(documents, namespace, name)
    service, workload = behind.service, behind.workload
    template = workload["spec"]["template"]
    entry = f"webhook-{namespace}-{name}"
    values = {
        "name": entry,
        "namespace": namespace,
        "service-name": name,
        "deployment-name": metadata.name(workload),
        "service-account": template["spec"].get("serviceAccountName", "default"),
        "labels": (template.get("metadata") or {}).get("labels") or {},
        "pod-metadata": template.get("metadata") or {},
        "pod-spec": template["spec"],
        "deployment": workload,
        "service": service,
        "otherwise": f"nobody answers at Service `{namespace}/{name}`, which webhooks wait for",
    }
    result = list(from_template("webhook-service", values))
    if behind.supposed:
        course.supposed.append(f"{namespace}/{name}")
        result = [
            replace(entry, judged=False) if isinstance(entry, Sending) else entry
            for entry in result
        ]
    course.entries += result
    return f"{entry}-answers"


@dataclass(frozen=True, slots=True)
class _Behind:
    """A Service and what runs behind it."""

    service: JsonDict
    workload: JsonDict
    supposed: bool


def _behind(documents: Sequence[Document], namespace: str, name: str) -> _Behind:
    inside = [
        document.value
        for document in documents
        if (metadata.namespace(document.value) or "default") == namespace
    ]
    service = next(
        (value for value in inside if value["kind"] == "Service" and metadata.name(value) == name),
        None,
    )
    selector = ((service or {}).get("spec") or {}).get("selector") or {}
    workload = next(_selected(inside, selector), None) if selector else None
    supposed = workload is None
    labels = selector or {"app": name}
    if workload is None:
        pod = {"containers": [{"name": "webhook", "image": "registry.example.com/webhook:1.0"}]}
        workload = _deployment(
            namespace, name, labels, {"metadata": {"labels": labels}, "spec": pod}
        )
    elif workload["kind"] != "Deployment":
        template = workload["spec"]["template"]
        workload = _deployment(namespace, metadata.name(workload), labels, template)
    if service is None:
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]},
        }
    return _Behind(service, workload, supposed)


def _selected(objects: Sequence[JsonObject], selector: Mapping[str, str]) -> Iterator[JsonDict]:
    """Workloads whose pods have all labels of a selector."""
    for item in objects:
        if item["kind"] in {"Deployment", "StatefulSet", "DaemonSet"}:
            labels = metadata.labels(item["spec"]["template"])
            if selector.items() <= labels.items():
                yield dict(item)


def _deployment(
    namespace: str, name: str, labels: Mapping[str, str], template: JsonObject
) -> JsonDict:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
