"""The policies of a cluster, as a `PolicySource`.

A change is taken in as soon as it is heard of: what has changed is decoded and compiled (in a
thread, reviews go on), and the whole replaces what was in force. Nothing is decided before all
caches have been filled once; nothing either while those of policies have not heard of the cluster
for longer than `max_staleness`, for then nobody knows what is in force.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from celadon import kube
from celadon.admission import Engine, PolicyEngine, registration
from celadon.admission.policies.mutating import MutatingEngine
from celadon.apiserver.conversion_webhooks import CalledWebhooks, Caller
from celadon.apiserver.operation import LIFE, say, warn
from celadon.goyaml import UnreadableError, read_yaml
from celadon.kube.crd import CustomKind, RememberedKinds
from celadon.kube.registry import request_bodies
from celadon.kube.releases import DEFAULT, answering_as
from celadon.kube.resources import Catalog, Resource, is_established
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, NAMESPACES
from celadon.records import dataclass, field
from celadon.webhook.cluster import cluster_client
from celadon.webhook.cluster.cluster_world import ClusterView, ClusterWorld, RemoteAuthorizer
from celadon.webhook.cluster.informers import ClusterCaches, WatchedCollection
from celadon.webhook.review_decisions import MutationRules, Rulebook, SourceState

# --- Config map policies -----------------------------------------------------
#
# Policies and bindings in ConfigMaps, for clusters that are too old to know the kinds.
#
# A ConfigMap with the label `celadon.dev/policies` in the webhook's own namespace holds files:
# each of its values is YAML or JSON with any number of documents. What else is in them is a
# problem, and so is a file that cannot be read, or a policy that an API server with the kind
# would not take: nobody else has looked at it. Then the ConfigMap counts as it last was without
# problems; if it never was, what is good in it counts. Only the webhook's own namespace is
# looked at: whoever may write there decides for the whole cluster.

Documents = Mapping[str, Sequence[kube.JsonObject]]
"""By kind, in order; each of KINDS is there."""

KINDS: Final = (
    registration.POLICY_KIND,
    registration.BINDING_KIND,
    registration.MUTATING_POLICY_KIND,
    registration.MUTATING_BINDING_KIND,
)
"""What may be in a file."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    revision: str
    documents: Documents
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class ConfigMapPolicies:
    """Remembers what each ConfigMap last could be read as. `version` is the release whose policies
    they are."""

    version: str
    _policies: dict[str, _Snapshot] = field(default_factory=dict)

    def documents(self, config_maps: Iterable[kube.JsonObject]) -> Documents:
        """Return the documents of all ConfigMaps. Of two documents with one name, that of the first
        ConfigMap (by name) counts, and the other one is a problem."""
        result = {
            kube.metadata.name(config_map): self._read(config_map) for config_map in config_maps
        }
        self._policies = {name: result[name] for name in sorted(result)}
        return {
            kind: [doc for value in self._policies.values() for doc in value.documents[kind]]
            for kind in KINDS
        }

    @property
    def problems(self) -> tuple[str, ...]:
        """Return why the newest version of something is not in use, each with its place."""
        return tuple(problem for value in self._policies.values() for problem in value.problems)

    def _read(self, config_map: kube.JsonObject) -> _Snapshot:
        name = kube.metadata.name(config_map)
        revision = str(kube.metadata.metadata(config_map).get("resourceVersion") or "")
        before = self._policies.get(name)
        if before is not None and before.revision == revision:
            return before
        documents, problems = _documents(name, config_map.get("data") or {}, self.version)
        if problems and before is not None:
            documents = before.documents
        return _Snapshot(revision, documents, tuple(problems))


def _documents(name: str, files: kube.JsonObject, version: str) -> tuple[Documents, list[str]]:
    result: dict[str, list[kube.JsonObject]] = {kind: [] for kind in KINDS}
    problems: list[str] = []
    for file in sorted(files):
        place = f"configmap `{name}`, `{file}`"
        try:
            for line, value in read_yaml(str(files[file])):
                if value is None:
                    continue
                kind = _kind(value)
                is_known = kind in result
                wrong = (
                    _refusal(value, kind, version) if is_known else "neither a policy nor a binding"
                )
                if wrong:
                    problems.append(f"{place}, line {line}: {wrong}")
                else:
                    result[kind].append(value)
        except UnreadableError as error:
            problems.append(f"{place}, line {error.line}: {error.message}")
    return result, problems


def _refusal(value: kube.JsonObject, kind: str, version: str) -> str:
    """Return why an API server would not take it; empty if it would."""
    served = str(value["apiVersion"]).partition("/")[2]
    try:
        decoded = registration.decode_object(value, kind, served)
    except registration.RegistrationError as error:
        return str(error)
    if decoded.unknown_fields:
        return request_bodies.strict_decoding_error(
            [unknown_field.text for unknown_field in decoded.unknown_fields]
        )
    obj = decoded.value
    errors = [
        *registration.validate_object_meta(obj.metadata),
        *registration.validate_create(obj, version),
    ]
    if not errors:
        return ""
    about = kube.GroupKind(ADMISSION_REGISTRATION, kind)
    return str(kube.status.invalid(about, kube.metadata.name(value), errors).status.message)


def _kind(value: object) -> str:
    """Return the kind, empty for what is no object of the group, or has no name."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return ""
    group = str(value.get("apiVersion")).partition("/")[0]
    named = bool(value["metadata"].get("name"))
    return str(value.get("kind")) if group == ADMISSION_REGISTRATION and named else ""


# --- Registered policies -----------------------------------------------------
#
# The policies of one type (validating or mutating) and their bindings, as they are in a
# cluster.
#
# They come from the cluster's own kind and from ConfigMaps; what has one name twice counts
# once.

E = TypeVar("E", bound=PolicyEngine)


class RegisteredPolicies(Generic[E]):
    """Holds the policies that are registered in a cluster. `engine` has none of them; `kinds` are
    the kinds of a policy and of a binding."""

    def __init__(
        self,
        engine: E,
        kinds: tuple[str, str],
        policies: WatchedCollection,
        bindings: WatchedCollection,
    ) -> None:
        self.engine = engine
        self.policies: Sequence[
            registration.ValidatingAdmissionPolicy | registration.MutatingAdmissionPolicy
        ] = ()
        self.bindings: Sequence[Any] = ()
        self._parts = tuple(
            (kind, cached, _decoding(kind))
            for kind, cached in zip(kinds, (policies, bindings), strict=True)
        )
        self._doubles: tuple[str, ...] = ()

    def read(self, written: Documents) -> None:
        """Take over what is in the caches now, and in ConfigMaps; `engine` stays what it was."""
        result: list[list[Any]] = []
        doubles: list[str] = []
        for kind, cached, decoding in self._parts:
            objects, problems = _first_of_each(cached, written.get(kind, ()))
            result.append(decoding.values(objects))
            doubles += problems
        self.policies, self.bindings = result
        self._doubles = tuple(doubles)

    def compile(self) -> None:
        """Make the engine of what was read. It takes a while."""
        self.engine = self.engine.replaced(self.policies, self.bindings).prepare()

    def param_kinds(self) -> Iterator[kube.GroupVersionKind]:
        """Return the kinds of params that the policies name."""
        for policy in self.policies:
            kind = policy.spec.param_kind
            if kind is None:
                continue
            try:
                version = kube.parse_api_version(kind.api_version)
            except kube.ApiVersionError:
                continue
            yield kube.GroupVersionKind(*version, kind.kind)

    def problems(self) -> Iterator[str]:
        """Yield which objects cannot be used, and why."""
        for kind, _, decoding in self._parts:
            for name, text in decoding.problems.items():
                yield f"{kind} `{name}`: {text}"
        yield from self._doubles


def _decoding(kind: str) -> registration.RememberedDecoding[Any]:
    return registration.RememberedDecoding(
        lambda obj: registration.decode_object(obj, kind, _version(obj)).value
    )


def _first_of_each(
    kind: Iterable[kube.JsonObject], written: Iterable[kube.JsonObject]
) -> tuple[list[kube.JsonObject], list[str]]:
    """Return the objects of the cluster's own kind, then those in ConfigMaps whose names are still
    free; and what is wrong with the others."""
    result: dict[str, kube.JsonObject] = {}
    problems = []
    for objects, place in ((kind, "the cluster"), (written, "a configmap")):
        for obj in objects:
            name = kube.metadata.name(obj)
            if name in result:
                problems.append(f"`{name}` in {place} is not used: there is another one before it")
            else:
                result[name] = obj
    return list(result.values()), problems


def _version(obj: kube.JsonObject) -> str:
    return str(obj.get("apiVersion") or "").rpartition("/")[2] or "v1"


DISCOVERY_SECONDS: Final = 60.0
"""Between two looks at what the cluster serves; it is also looked at when a definition changes."""

RETRY_SECONDS: Final = 2.0
"""After a discovery that failed."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Holds where policies come from, and how they are judged. `version` is the release that
    answers, empty for that of the cluster, which may change; `namespace` is where ConfigMaps with
    policies are; `call` calls conversion webhooks, None where nobody does."""

    version: str
    namespace: str
    max_staleness: float
    call: Caller | None = None


class FollowedRelease:
    """Follows the release of Kubernetes that a cluster answers as. A `fixed` one is never asked
    for; `changed` is called when it is known, and when it is another one."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
        fixed: str = "",
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._client = client
        self._fixed = fixed
        self._changed = changed
        self.version = fixed or DEFAULT
        self.is_known = bool(fixed)
        self.failure = ""

    async def run(self) -> None:
        """Ask again and again, until it is cancelled: a cluster may be upgraded."""
        while not self._fixed:
            await asyncio.sleep(DISCOVERY_SECONDS if await self.ask() else RETRY_SECONDS)

    async def ask(self) -> bool:
        """Return whether the cluster has told."""
        try:
            version = await cluster_client.served_release(self._client)
        except cluster_client.ClusterError as error:
            if not self.failure:
                warn("the cluster cannot be asked for its release", {"err": str(error)})
            self.failure = str(error)
            return False
        self.failure = ""
        if not self.is_known or version != self.version:
            self.version, self.is_known = version, True
            say(LIFE, "the release of the cluster", {"version": version})
            self._changed()
        return True


class ClusterPolicies:
    """Follows the policies of a cluster. `clock` is Unix time, `monotonic` what ages are measured
    by."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
        settings: PolicySettings,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._changed = asyncio.Event()
        self._discover = asyncio.Event()
        self.caches = ClusterCaches(
            client, settings.namespace, settings.max_staleness, self._changed.set, monotonic
        )
        self.authorizer = RemoteAuthorizer(client, monotonic)
        self.release = FollowedRelease(client, settings.version, self._changed.set)
        self._answer_as(self.release.version)
        self._custom: Mapping[kube.GroupVersionKind, CustomKind] = {}
        self._served: tuple[Resource, ...] = ()
        self._catalog: Catalog | None = None
        self._catalog_of: object = None
        self._webhooks: CalledWebhooks | None = None
        self._rules: Rulebook | None = None
        self._loads = 0
        self._failed_loads = 0
        self._messages: tuple[str, ...] = ()
        self._loaded_at = 0.0

    def _answer_as(self, version: str) -> None:
        """Forget what was read: nothing is known of what was read as another release."""
        self._version = version
        self._validating = RegisteredPolicies(
            Engine(version=version),
            (registration.POLICY_KIND, registration.BINDING_KIND),
            self.caches.policies,
            self.caches.bindings,
        )
        self._mutating = RegisteredPolicies(
            MutatingEngine(version=version),
            (registration.MUTATING_POLICY_KIND, registration.MUTATING_BINDING_KIND),
            self.caches.mutating_policies,
            self.caches.mutating_bindings,
        )
        self._config_maps = ConfigMapPolicies(version)
        self._kinds = RememberedKinds(version)

    def rulebook(self) -> Rulebook | None:
        """Return what is in force; None before the caches were filled, and while those of policies
        are too old."""
        if self._rules is None or self._stale():
            return None
        return self._rules

    def state(self) -> SourceState:
        """Return the state with what is waited for, and which objects cannot be used."""
        return SourceState(
            missing=tuple(self._missing()),
            problems=self._problems(),
            remarks=tuple(self._remarks()),
            loads=self._loads,
            failed_loads=self._failed_loads,
            loaded_at=self._loaded_at,
            cache_ages={
                name: age for name, age in self.caches.ages().items() if age != float("inf")
            },
        )

    def stamp(self) -> object:
        """Return a value that changes with what the caches have heard, and what was made of it."""
        return self._loads, [cache.stamp() for cache in self.caches]

    def _problems(self) -> tuple[str, ...]:
        return (
            *self._validating.problems(),
            *self._mutating.problems(),
            *self._config_maps.problems,
        )

    def _missing(self) -> Iterator[str]:
        """Params that cannot be read are missing in the reviews that need them, and only there:
        else one policy could take the webhook out of service for all."""
        for cache in self.caches:
            if not cache.is_synced and cache not in self._unreadable_params():
                yield f"{cache.watched.name}{_because(cache.failure)}"
        if not self._served:
            yield "the discovery of what is served"
        if not self.release.is_known:
            yield f"the release of the cluster{_because(self.release.failure)}"
        yield from self._stale()

    def _unreadable_params(self) -> list[WatchedCollection]:
        return [
            param for param in self.caches.params.values() if not param.is_synced and param.failure
        ]

    def _remarks(self) -> Iterator[str]:
        for unreadable_param in self._unreadable_params():
            yield f"params cannot be read: {unreadable_param.failure}"

    def _stale(self) -> tuple[str, ...]:
        """Return caches of policies that have heard nothing for too long."""
        limit = self._settings.max_staleness
        return tuple(
            f"{cache.watched.name}, not known for {cache.age():.0f}s{_because(cache.failure)}"
            for cache in self.caches.of_policies
            if cache.is_synced and not cache.is_absent and cache.age() > limit
        )

    async def run(self) -> None:
        """Follow the cluster until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.caches.run())
            group.create_task(self._keep_discovered())
            group.create_task(self.release.run())
            group.create_task(self._keep_rules())

    async def _keep_discovered(self) -> None:
        failure = ""
        while True:
            self._discover.clear()
            try:
                served = await cluster_client.discover(self._client)
                if served != self._served:
                    self._served = served
                    self._changed.set()
                pause, failure = DISCOVERY_SECONDS, ""
            except cluster_client.ClusterError as error:
                if not failure:
                    warn("the cluster cannot be asked what it serves", {"err": str(error)})
                pause, failure = RETRY_SECONDS, str(error)
            try:
                async with asyncio.timeout(pause):
                    await self._discover.wait()
            except TimeoutError:
                continue

    async def _keep_rules(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            fixed = (*self.caches.of_policies, self.caches.namespaces, self.caches.definitions)
            if not self._served or not all(collection.is_synced for collection in fixed):
                continue
            if self.release.is_known:
                if self.release.version != self._version:
                    self._answer_as(self.release.version)
                with answering_as(self._version):
                    await self._take()

    async def _take(self) -> None:
        """Make a rulebook of what is in the caches now."""
        types = self._validating, self._mutating
        documents = self._config_maps.documents(self.caches.config_maps)
        for collection in types:
            collection.read(documents)
        self._tell_problems()
        for collection in types:
            await asyncio.to_thread(collection.compile)
        catalog = self._current_catalog()
        self.caches.follow(self._param_resources(catalog))
        view = ClusterView(
            self._client,
            self.caches,
            self.authorizer,
            catalog,
            self._settings.max_staleness,
            self._webhooks,
        )
        before = self._rules
        self._rules = Rulebook(
            self._validating.engine,
            lambda: ClusterWorld(view),
            sum(len(collection.bindings) for collection in types),
            MutationRules(self._mutating.engine, self._custom.get),
        )
        self._loads += 1
        self._loaded_at = self._clock()
        counts = _counts(self._rules)
        if before is None or counts != _counts(before):
            say(LIFE, "the policies of the cluster were taken in", counts)

    def _tell_problems(self) -> None:
        """Log the problems that were not there at the last call."""
        problems = self._problems()
        news = [problem for problem in problems if problem not in self._messages]
        for text in news:
            warn("something of the cluster's policies cannot be used", {"err": text})
        self._failed_loads += bool(news)
        self._messages = problems

    def _current_catalog(self) -> Catalog:
        """Return the catalogue, the same object while nothing has changed: an engine remembers what
        follows from it."""
        definitions = tuple(
            definition for definition in self.caches.definitions if is_established(definition)
        )
        specs = tuple(definition.get("spec") for definition in definitions)
        key = (self._version, self._served, specs)
        if self._catalog is None or key != self._catalog_of:
            if self._catalog is not None:
                self._discover.set()
            self._catalog = cluster_client.cluster_catalog(self._served, definitions)
            self._custom = self._kinds.of(definitions)
            self._catalog_of = key
            call = self._settings.call
            if call is not None:
                self._webhooks = CalledWebhooks(definitions, self._version, call)
        return self._catalog

    def _param_resources(self, catalog: Catalog) -> Iterator[Resource]:
        """Yield the kinds of params that there are; others are waited for."""
        for kind in (*self._validating.param_kinds(), *self._mutating.param_kinds()):
            resource = catalog.by_gvk(kind)
            if resource is not None and resource.gvr != NAMESPACES:
                yield resource


def _counts(rules: Rulebook) -> dict[str, int]:
    return {"policies": rules.policies, "bindings": rules.bindings}


def _because(failure: str) -> str:
    return f" ({failure})" if failure else ""
