"""CustomResourceDefinitions become served at once: their names first, then `Established`.

Two writes, so that who watches sees what a real server shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar
from urllib.parse import urlsplit

from celadon.apiserver.bootstrap_objects import ALWAYS, MANAGED, custom_api_service
from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.caches.store_informers import Mirror
from celadon.apiserver.controllers import controller_loops as loops
from celadon.apiserver.object_store import ObjectStore, StoredObject, collection_prefix
from celadon.kube import JsonObject, metadata
from celadon.kube.crd import APPROVAL, APPROVAL_PLACE, trusts_nobody
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.json_types import JsonDict
from celadon.kube.protobuf import in_message_order
from celadon.kube.registry import Target, create, delete, stored_object
from celadon.kube.resources import ESTABLISHED, Resource
from celadon.records import dataclass

K = TypeVar("K")

# --- Definition status -------------------------------------------------------
#
# What the status of a CustomResourceDefinition should be: its names, and whether it is served.
#
# Names of one group are given to who came first. As k8s.io/apiextensions-apiserver
# `pkg/controller/{status,establish,apiapproval}`.

NAMES_ACCEPTED: Final = "NamesAccepted"
APPROVED: Final = "KubernetesAPIApprovalPolicyConformant"
_PROTECTED: Final = ("k8s.io", "kubernetes.io")
_NAMES: Final = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
_RESOURCE: Final = "resource "
_KIND: Final = "kind "
"""Sorts of names: those of one are no conflict for those of the other."""


def named_status(definition: JsonObject, names: AcceptedNames, now: str) -> JsonObject:
    """Return the status with accepted names and what follows from them. `names` are those of all
    definitions; `now` is a time as objects have it."""
    status = definition.get("status") or {}
    conditions: Sequence[JsonObject] = status.get("conditions") or ()
    if _has_its_names(definition):  # whatever somebody has made of the conditions since
        return {
            **status,
            "conditions": list(_with_approval(definition, conditions, now)),
            "storedVersions": _stored_versions(definition),
        }
    accepted, conflict = _accepted_names(definition, names)
    good = loops.condition(NAMES_ACCEPTED, "True", "NoConflicts", "no conflicts found")
    conditions = loops.with_condition(conditions, conflict or good, now)
    if not loops.is_true(conditions, ESTABLISHED) and not (
        conflict is None and trusts_nobody(definition)
    ):
        conditions = loops.with_condition(
            conditions, _unestablished(accepted=conflict is None), now
        )
    return {
        **status,
        "conditions": list(_with_approval(definition, conditions, now)),
        "acceptedNames": accepted,
        "storedVersions": _stored_versions(definition),
    }


def established_status(definition: JsonObject, now: str) -> JsonObject:
    """Return the status of a definition that is served from now on, once its names are accepted."""
    status = definition.get("status") or {}
    conditions = status.get("conditions") or ()
    if not loops.is_true(conditions, NAMES_ACCEPTED) or loops.is_true(conditions, ESTABLISHED):
        return status
    message = "the initial names have been accepted"
    served = loops.condition(ESTABLISHED, "True", "InitialNamesAccepted", message)
    if trusts_nobody(definition):
        message = "The conversion webhook CABundle is invalid"
        served = loops.condition(ESTABLISHED, "False", "InvalidCABundle", message)
    return {**status, "conditions": loops.with_condition(conditions, served, now)}


def _unestablished(*, accepted: bool) -> JsonObject:
    if accepted:
        message = "the initial names have been accepted"
        return loops.condition(ESTABLISHED, "False", "Installing", message)
    return loops.condition(ESTABLISHED, "False", "NotAccepted", "not all names are accepted")


def _stored_versions(definition: JsonObject) -> list[str]:
    """Return the versions that objects are stored in, with the one that they are written as now."""
    stored = list((definition.get("status") or {}).get("storedVersions") or ())
    versions = [
        version["name"] for version in definition["spec"]["versions"] if version.get("storage")
    ]
    return stored + [version for version in versions if version not in stored]


# --- names ---


class AcceptedNames:
    """Knows which definitions of each group were given which names, and which of them wait for
    some."""

    def __init__(self, definitions: Iterable[JsonObject] = ()) -> None:
        self._holders: dict[tuple[str, str], set[str]] = {}
        """By the group and a name that begins with its sort."""
        self._waiting: dict[str, set[str]] = {}
        for definition in definitions:
            self.put(definition)

    def put(self, definition: JsonObject) -> None:
        """Take in what it has, and whether it waits."""
        group, name = definition["spec"]["group"], metadata.name(definition)
        for given_name in _given_names(definition):
            self._holders.setdefault((group, given_name), set()).add(name)
        conditions = (definition.get("status") or {}).get("conditions") or ()
        if not loops.is_true(conditions, NAMES_ACCEPTED):
            self._waiting.setdefault(group, set()).add(name)

    def remove(self, definition: JsonObject) -> None:
        """Take out a definition in the state in which it was put."""
        group, name = definition["spec"]["group"], metadata.name(definition)
        for given_name in _given_names(definition):
            _leave(self._holders, (group, given_name), name)
        _leave(self._waiting, group, name)

    def has_another(self, definition: JsonObject, sort: str, name: str) -> bool:
        """Tell whether another definition in the group has the name."""
        holders = self._holders.get((definition["spec"]["group"], sort + name), set())
        return bool(holders - {metadata.name(definition)})

    def waiting(self, definition: JsonObject) -> list[str]:
        """Return the definitions of the same group that lack a name, in order."""
        return sorted(self._waiting.get(definition["spec"]["group"], ()))


def _leave(sets: dict[K, set[str]], key: K, name: str) -> None:
    """Remove the name, and the set if it was the last one."""
    result = sets.get(key, set())
    result.discard(name)
    if not result:
        sets.pop(key, None)


def _given_names(definition: JsonObject) -> set[str]:
    """Return the names that were accepted, each behind its sort."""
    names = (definition.get("status") or {}).get("acceptedNames") or {}
    resources = (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ()))
    kinds = (names.get("kind"), names.get("listKind"))
    return {_RESOURCE + resource for resource in resources if resource} | {
        _KIND + kind for kind in kinds if kind
    }


def _has_its_names(definition: JsonObject) -> bool:
    wanted_names: JsonObject = definition["spec"]["names"]
    accepted_names: JsonObject = (definition.get("status") or {}).get("acceptedNames") or {}
    return all(
        (wanted_names.get(field) or None) == (accepted_names.get(field) or None) for field in _NAMES
    )


def _accepted_names(
    definition: JsonObject, names: AcceptedNames
) -> tuple[JsonObject, JsonObject | None]:
    """Return the names that the definition has, and the last conflict about those it wants."""
    wanted_names: JsonObject = definition["spec"]["names"]
    accepted_names: JsonObject = (definition.get("status") or {}).get("acceptedNames") or {}
    result: JsonDict = {"plural": "", "kind": "", **accepted_names}
    conflict: JsonObject | None = None
    for field in _NAMES:
        if field == "categories":
            new: Iterable[str] = ()
        elif field == "shortNames":
            mine = frozenset(accepted_names.get(field) or ())
            new = [item for item in wanted_names.get(field) or () if item not in mine]
        else:
            name = wanted_names.get(field)
            new = [name] if name and name != accepted_names.get(field) else ()
        sort = _KIND if field.lower().endswith("kind") else _RESOURCE
        problems = [text for text in new if names.has_another(definition, sort, text)]
        if problems:
            reason = f"{field[0].upper()}{field[1:]}Conflict"
            conflict = loops.condition(NAMES_ACCEPTED, "False", reason, _in_use(problems))
        elif wanted_names.get(field):
            result[field] = wanted_names[field]
        elif field not in ("plural", "kind"):
            result.pop(field, None)
    return {field: result[field] for field in _NAMES if field in result}, conflict


def _in_use(names: Sequence[str]) -> str:
    texts = list(dict.fromkeys(f'"{name}" is already in use' for name in names))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


# --- groups of the community ---


def _with_approval(
    definition: JsonObject, conditions: Sequence[JsonObject], now: str
) -> Sequence[JsonObject]:
    group: str = definition["spec"]["group"]
    if not any(group == item or group.endswith(f".{item}") for item in _PROTECTED):
        return [condition for condition in conditions if condition.get("type") != APPROVED]
    approval = _approval(metadata.annotations(definition).get(APPROVAL, ""))
    return loops.with_condition(conditions, approval, now)


def _approval(value: str) -> JsonObject:
    needed = f'protected groups must have approval annotation "{APPROVAL}"'
    if not value:
        text = f"{needed}, see {APPROVAL_PLACE}"
        return loops.condition(APPROVED, "False", "MissingAnnotation", text)
    if value.startswith("unapproved"):
        return loops.condition(
            APPROVED, "False", "UnapprovedAnnotation", f'not approved: "{value}"'
        )
    address = urlsplit(value)
    if address.scheme and address.netloc:
        return loops.condition(APPROVED, "True", "ApprovedAnnotation", f"approved in {value}")
    text = (
        f'{needed} with either a URL or a reason starting with "unapproved", see {APPROVAL_PLACE}'
    )
    return loops.condition(APPROVED, "False", "InvalidAnnotation", text)


class DefinitionController:
    """Gives definitions their names, and makes them `Established`. Items are names of definitions;
    `now` gives the time as objects have it."""

    urgent = True

    def __init__(
        self, objects: ObjectStore, definitions: loops.StatusWrites, now: Callable[[], str]
    ) -> None:
        self._definitions = definitions
        self._now = now
        self._mirror = Mirror(objects, definitions.prefix)
        self._names = AcceptedNames(item.object for item in self._mirror)

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._definitions.prefix,)

    def concerned(self, change: loops.Change) -> Iterable[str]:
        """Return the definition itself, and those that wait for names that it may have given
        back."""
        old, new = change.old, change.new
        result = [] if new is None else [metadata.name(new)]
        if old is not None and (new is None or _given_names(new) != _given_names(old)):
            result += self._current_names().waiting(old)
        return result

    async def reconcile(self, item: str) -> None:
        stored = self._definitions.get(item)
        if stored is None or metadata.deletion_timestamp(stored.object):
            return
        named = named_status(stored.object, self._current_names(), self._now())
        stored = await self._definitions.write(stored, named)
        await self._definitions.write(stored, established_status(stored.object, self._now()))

    def _current_names(self) -> AcceptedNames:
        if self._mirror.refresh():
            if self._mirror.news is None:
                self._names = AcceptedNames(item.object for item in self._mirror)
            for old, new in self._mirror.news or ():
                if old is not None:
                    self._names.remove(old.object)
                if new is not None:
                    self._names.put(new.object)
        return self._names


# --- Definition cleanup ------------------------------------------------------
#
# A CustomResourceDefinition that is to be deleted takes its objects with it, and goes last.
#
# As k8s.io/apiextensions-apiserver `pkg/controller/finalizer/crd_finalizer.go`.

FINALIZER: Final = delete.DEFINITION_CLEANUP
_TERMINATING: Final = "Terminating"
_IN_PROGRESS: Final = loops.condition(
    _TERMINATING, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"
)
_EMPTIED: Final = loops.condition(
    _TERMINATING, "False", "InstanceDeletionCompleted", "removed all instances"
)
_NEVER_ESTABLISHED: Final = loops.condition(
    _TERMINATING, "False", "NeverEstablished", "resource was never established"
)
AGAIN: Final = 1.0
"""Seconds until objects that were still there are looked at again."""


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionCleanup:
    """Deletes the objects of definitions that are being deleted. Items are names of definitions."""

    urgent = False

    objects: ObjectStore
    definitions: loops.StatusWrites
    served: Callable[[], Served]
    requests: loops.ServerRequests
    now: Callable[[], str]

    @property
    def prefixes(self) -> Sequence[str]:
        return (self.definitions.prefix,)

    def concerned(self, change: loops.Change) -> Iterable[str]:
        return () if change.new is None or not _waits(change.new) else (metadata.name(change.new),)

    async def reconcile(self, item: str) -> float | None:
        stored = self.definitions.get(item)
        if stored is None or not _waits(stored.object):
            return None
        stored = await self._said(stored, _IN_PROGRESS)
        resource = self._resource(stored.object)
        if resource is not None:
            left, failures = await self._emptied(resource)
            if failures:
                text = f"could not issue all deletes: {'; '.join(failures)}"
                await self._said(
                    stored, loops.condition(_TERMINATING, "True", "InstanceDeletionFailed", text)
                )
                raise loops.Stale
            if left:
                return AGAIN
        await self._released(stored)
        return None

    def _resource(self, definition: JsonObject) -> Resource | None:
        """Return the resource in the version in which its objects are stored, if that is served,
        else in another one; None when there is none, or never was."""
        name = metadata.name(definition)
        served = (
            resource for resource in self.served().catalog if resource.custom and resource.served
        )
        resources = [resource for resource in served if str(resource.gvr.group_resource) == name]
        return min(
            resources,
            key=lambda resource: resource.gvr.version != resource.storage_version,
            default=None,
        )

    async def _emptied(self, resource: Resource) -> tuple[bool, list[str]]:
        """Return whether objects are left, and what went wrong."""
        page = self.objects.page(resource)
        spaces = dict.fromkeys(metadata.namespace(obj.object) for obj in page.objects)
        failures = []
        for namespace in spaces:
            reply = await self.requests.call("DELETE", loops.resource_path(resource, namespace))
            if reply.failed:
                failures.append(reply.message)
        return bool(self.objects.page(resource, limit=1).objects), failures

    async def _said(self, stored: StoredObject, condition: JsonObject) -> StoredObject:
        status = stored.object.get("status") or {}
        conditions = loops.with_condition(status.get("conditions"), condition, self.now())
        return await self.definitions.write(stored, {**status, "conditions": conditions})

    async def _released(self, stored: StoredObject) -> None:
        """Take the finalizer off the definition, which is gone if that was the last one."""
        finalizers = [
            finalizer for finalizer in metadata.finalizers(stored.object) if finalizer != FINALIZER
        ]
        if not finalizers:
            if not await self.definitions.delete(stored):
                raise loops.Stale
            return
        status = stored.object.get("status") or {}
        conditions = status.get("conditions") or ()
        done = _EMPTIED if loops.is_true(conditions, ESTABLISHED) else _NEVER_ESTABLISHED
        conditions = loops.with_condition(conditions, done, self.now())
        changed = await self.definitions.managed(stored, {**status, "conditions": conditions})
        meta = {**metadata.metadata(changed), "finalizers": finalizers}
        await self.definitions.replace(stored, {**changed, "metadata": meta})


def _waits(definition: JsonObject) -> bool:
    deleted = metadata.deletion_timestamp(definition)
    return bool(deleted) and metadata.has_finalizer(definition, FINALIZER)


# --- Definition api services -------------------------------------------------
#
# For each version of custom resources that is served there is an APIService.
#
# As k8s.io/kubernetes `pkg/controlplane/controller/crdregistration`, and k8s.io/kube-aggregator
# `pkg/controllers/autoregister` for those that are to be kept as they are. Both look at what
# definitions say, whether or not their names were accepted.


class DefinitionApiServices:
    """Keeps an APIService for each version of custom resources. Items are names of APIServices,
    `v1.example.com`; `new_context` gives a new uid each time."""

    urgent = False

    def __init__(
        self,
        objects: ObjectStore,
        definitions: loops.StatusWrites,
        services: Resource,
        new_context: Callable[[], DefaultingContext],
    ) -> None:
        self._objects = objects
        self._definitions = definitions
        self._services = services
        self._new_context = new_context
        self._services_prefix = collection_prefix(services)
        self._mirror = Mirror(objects, definitions.prefix)
        self._expected_services = _services_of_all(self._mirror)
        """How many definitions want each APIService."""

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._definitions.prefix, self._services_prefix)

    def concerned(self, change: loops.Change) -> Iterable[str]:
        if change.key.startswith(self._services_prefix):
            return (change.key.rpartition("/")[2],)
        return {name for item in (change.old, change.new) for name in _services_of(item)}

    async def reconcile(self, item: str) -> None:
        version, _, group = item.partition(".")
        is_wanted = item in self._services_wanted()
        stored = self._objects.get(self._services, "", item)
        if stored is None:
            if is_wanted:
                await self._create(custom_api_service(group, version))
        elif metadata.labels(stored.object).get(MANAGED) != ALWAYS:
            return
        elif not is_wanted:
            await self._objects.delete(self._services, "", item, stored.revision)
        else:
            spec = custom_api_service(group, version)["spec"]
            result = {**stored.object, "spec": spec}
            if result != stored.object and not await self._objects.update(
                self._services, "", item, in_message_order(result), stored.revision
            ):
                raise loops.Stale

    def _services_wanted(self) -> Counter[str]:
        """Return the counts as of now. Each change is counted once: there may be thousands of
        definitions, and of versions of one."""
        if self._mirror.refresh():
            if self._mirror.news is None:
                self._expected_services = _services_of_all(self._mirror)
            for old, new in self._mirror.news or ():
                self._expected_services.update(() if new is None else _services_of(new.object))
                for service in () if old is None else _services_of(old.object):
                    self._expected_services[service] -= 1
                    if not self._expected_services[service]:
                        del self._expected_services[service]
        return self._expected_services

    async def _create(self, service: JsonObject) -> None:
        target, context = Target(self._services, ""), self._new_context()
        created = create.created(service, target, context)
        result = in_message_order(stored_object(created, target, context))
        await self._objects.create(self._services, "", metadata.name(service), result)


def _services_of_all(definitions: Iterable[StoredObject]) -> Counter[str]:
    return Counter(service for item in definitions for service in _services_of(item.object))


def _services_of(definition: JsonObject | None) -> set[str]:
    if definition is None:
        return set()
    spec = definition["spec"]
    return {
        f"{version['name']}.{spec['group']}"
        for version in spec["versions"]
        if version.get("served")
    }
