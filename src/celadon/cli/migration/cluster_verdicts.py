"""`--against cluster`: objects are sent to a cluster where the old engine runs, as creations with
`dryRun=All`, and what it says of them is its verdict.

Nothing is written. A server goes through admission for a dry run as ever, and stores nothing;
webhooks have declared that they have no side effects then. Only servers that
say in their OpenAPI document that they know `dryRun` are asked: one behind an APIService may not,
and would create the object. Creations are judged before a server looks whether the name is taken,
so what exists can be asked about, too.

What goes through is judged as the answer has it, with all that mutating webhooks have done. What is
refused is judged as it was sent, with its defaults.

Apart from the other records, which need none of the packages that speak to a server
(`celadon[serve]`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from celadon.admission import Operation
from celadon.admission.partial_decisions import Missing
from celadon.admission.write_requests import request_of
from celadon.apiserver.clientconfig import ClusterLocation
from celadon.cli.audit.audit_inputs import preparation
from celadon.cli.audit.cluster_audit import path_of, patiently
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.migration import recorded_verdicts
from celadon.cli.migration.migration_run import Parameter, RecordedRequests
from celadon.cli.reading.documents import Document, Problem, read_documents
from celadon.kube import JsonObject, User, metadata
from celadon.kube.json_types import JsonDict, Needed, Shape, misfit
from celadon.kube.registry import Target
from celadon.kube.releases import current_release
from celadon.kube.resources import Catalog, Resource
from celadon.webhook import cluster

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


def answers_of_cluster(
    location: ClusterLocation,
    step: Callable[[int], None],
    path: str,
    params: Collection[Parameter],
    counts: RecordedRequests,
) -> recorded_verdicts.ClusterAnswers:
    """Send the objects of a file or folder to a cluster; return what it has said of each. What
    cannot be sent, or says nothing, is counted. `step` is told how many it has come to."""
    return asyncio.run(_answers(location, step, path, params, counts))


async def _answers(
    location: ClusterLocation,
    step: Callable[[int], None],
    path: str,
    params: Collection[Parameter],
    counts: RecordedRequests,
) -> recorded_verdicts.ClusterAnswers:
    client = cluster.ClusterClient(location)
    answers = recorded_verdicts.ClusterAnswers()
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

    async def sent(self, document: Document) -> list[recorded_verdicts.Recorded]:
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
        self._counts.sent += 1
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
    ) -> list[recorded_verdicts.Recorded]:
        message = str(refusal.status.get("message") or "")
        denial = recorded_verdicts.webhook_text(message)
        refusing = recorded_verdicts.refusing_rules(denial) if denial else frozenset()
        if refusing:
            filled_in = self._filled_in(body, resource)
            return self._recorded(document, resource, filled_in, refusing)
        reason = str(refusal.status.get("reason") or refusal.code)
        detail = f"refused by others ({reason})"
        self._counts.examples.setdefault(detail, f"{document.position()}: {message}")
        return self._left(detail)

    def _left(self, reason: str) -> list[recorded_verdicts.Recorded]:
        self._counts.left[reason] += 1
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
        refusing: frozenset[recorded_verdicts.RuleName] | None,
    ) -> list[recorded_verdicts.Recorded]:
        if obj is None:
            return self._left("their objects cannot be read")
        target = Target(resource, metadata.namespace(obj))
        request = request_of(target, Operation.CREATE, obj, None, self._user, dry_run=True)
        return [
            recorded_verdicts.Recorded(document.position(), request, (Missing.ROLES,), refusing)
        ]

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
