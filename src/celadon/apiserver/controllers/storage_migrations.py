"""StorageVersionMigrations: all objects of a resource are written anew, in its storage version.

Of several migrations of one resource, the oldest runs. It is told the resource version up to which
objects are concerned, each of them is applied without a field, and it succeeds or fails. While it
runs, a CustomResourceDefinition says so, and afterwards it no longer names the versions in which
nothing is stored. As k8s.io/kubernetes `pkg/controller/storageversionmigrator` of 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from celadon.apiserver.caches.served_resources import DEFINITIONS, Served
from celadon.apiserver.controllers import controller_loops as loops
from celadon.apiserver.object_store import ObjectStore, StoredObject, is_event
from celadon.kube import GroupResource, GroupVersionResource, JsonObject, metadata
from celadon.kube.go import int_or, quote
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.records import dataclass

MIGRATIONS: Final = GroupVersionResource(
    "storagemigration.k8s.io", "v1beta1", "storageversionmigrations"
)
ACCOUNT: Final = "storage-version-migrator-controller"
"""Also the field manager of what it applies to objects."""
GATE: Final = "StorageVersionMigrator"
RUNNER: Final = "migration-runner-controller"
"""The field manager of what definitions say."""
PATIENCE: Final = 60.0
"""Seconds that a resource has to come after its migration."""
RETRY_SECONDS: Final = 1.0
PAGE: Final = 100
RUNNING, SUCCEEDED, FAILED = "Running", "Succeeded", "Failed"
_IN_DEFINITIONS: Final = "StorageMigrating"
_VERBS: Final = ("update", "patch", "list")
_COLLECTED: Final = frozenset({"delete", "list", "watch"})
_FOR_NOW: Final = frozenset(
    {"ServerTimeout", "TooManyRequests", "ServiceUnavailable", "InternalError", "Timeout"}
)
"""Reasons of refusals that may be others the next time."""


class _Unmigrated(Exception):
    """Says why a migration has failed."""


# As k8s.io/kubernetes `pkg/controller/storageversionmigrator`. Two migrations of one resource would
# write each object twice and gain nothing, so the second one waits for its turn.
@dataclass(frozen=True, slots=True, eq=False)
class StorageMigrations:
    """Runs StorageVersionMigrations, one at a time for each resource. Items are resources,
    `RESOURCE.GROUP`; `now` gives the time."""

    urgent = False

    objects: ObjectStore
    migrations: loops.StatusWrites
    served: Callable[[], Served]
    requests: loops.ServerRequests
    now: Callable[[], datetime]

    @property
    def prefixes(self) -> Sequence[str]:
        return (self.migrations.prefix,)

    def concerned(self, change: loops.Change) -> Iterable[str]:
        return {_item(item) for item in (change.old, change.new) if item is not None}

    async def reconcile(self, item: str) -> float | None:
        result = [entry for entry in self.migrations.all() if _item(entry) == item]
        for element in result:
            if _is_running(element) and _is_over(element):
                await self._clean_up(item, element)
        running = next((item for item in result if _is_running(item) and not _is_over(item)), None)
        if running is not None:
            return await self._proceed(item, running)
        waiting = [item for item in result if not _is_running(item) and not _is_over(item)]
        if waiting:
            await self._begin(item, min(waiting, key=_age))
        return None

    # --- the definition ---

    async def _begin(self, item: str, migration: JsonObject) -> None:
        name = metadata.name(migration)
        # The definition says first that a migration runs (`migrationrunner.go`), so that who looks
        # at it knows before any object is written.
        await self._tell_definition(
            item, "True", "MigrationRunning", f"Migration {name} is running"
        )
        began = loops.condition(RUNNING, "True", "MigrationRunning", "The migration is running")
        await self._write(migration, [*_conditions(migration), self._timed(began)])

    async def _clean_up(self, item: str, migration: JsonObject) -> None:
        if loops.is_true(_conditions(migration), SUCCEEDED):
            await self._tell_definition(
                item, "False", "MigrationSucceeded", "The migration has succeeded"
            )
        else:
            await self._tell_definition(
                item, "False", "MigrationFailed", "The migration has failed"
            )
        done = loops.condition(RUNNING, "False", "MigrationCompleted", "Migration completed")
        ended = self._timed(done, metadata.generation(migration))
        conditions = [
            ended if condition["type"] == RUNNING else condition
            for condition in _conditions(migration)
        ]
        await self._write(migration, conditions)

    async def _tell_definition(self, name: str, state: Any, reason: str, message: str) -> None:  # noqa: ANN401
        """Write on the definition of a custom resource that a migration begins or is over. Raises
        Stale."""
        path = f"/apis/{DEFINITIONS.group}/{DEFINITIONS.version}/{DEFINITIONS.resource}/{name}"
        read = await self.requests.call("GET", path)
        if read.code == 404:
            return
        if read.failed:
            raise loops.Stale
        definition = read.body
        generation = metadata.generation(definition)
        status_fields: JsonDict = {}
        if state == "False":
            former = loops.find_condition(_conditions(definition), _IN_DEFINITIONS)
            # If the definition was changed meanwhile, its storage version may be another one than
            # the objects were written in, so that the stored versions must stay.
            is_same = former is not None and former.get("observedGeneration") == generation
            if is_same:
                status_fields["storedVersions"] = [
                    version["name"]
                    for version in definition["spec"]["versions"]
                    if version.get("storage")
                ]
            if reason == "MigrationSucceeded":
                message += (
                    " and the stored versions have been updated"
                    if is_same
                    else " but the stored versions have not been updated due to a generation "
                    "mismatch"
                )
        condition = loops.condition(_IN_DEFINITIONS, state, reason, message)
        status_fields["conditions"] = [self._timed(condition, generation)]
        body = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name, "resourceVersion": metadata.resource_version(definition)},
            "status": status_fields,
        }
        applied = await self.requests.apply(f"{path}/status", body, RUNNER, force=True)
        if applied.failed:
            raise loops.Stale

    # --- the objects ---

    async def _proceed(self, item: str, migration: JsonObject) -> float | None:
        """Do what comes next of a migration that runs; return in how many seconds to look again."""
        resource = self._resource(migration)
        if resource is None:
            if self._seconds_since(migration) <= PATIENCE:
                return RETRY_SECONDS
            await self._fail(migration, "resource does not exist in discovery")
            return None
        if not (migration.get("status") or {}).get("resourceVersion"):
            if set(_VERBS).difference(resource.verbs):
                group, version, name = resource.gvr
                text = quote(f"{group}/{version}, Resource={name}")
                verbs = f"[{' '.join(_VERBS)}]"
                reason = f"resource {text} does not support discovery operations: {verbs}"
                await self._fail(migration, reason)
                return None
            # What is written after this revision is in the storage version already.
            version = str(self.objects.store.revision())
            await self._write(migration, _conditions(migration), resourceVersion=version)
            return None
        if not _is_collected(resource):
            return None  # upstream asks again and again, for ever
        try:
            if not await self._migrated(resource, _at(migration)):
                return RETRY_SECONDS
        except _Unmigrated as error:
            await self._fail(migration, f"migration encountered unhandled error: {error!s}")
            return None
        done = self._timed(
            loops.condition(SUCCEEDED, "True", "StorageVersionMigrationSucceeded", "")
        )
        await self._write(migration, [*_conditions(migration), done])
        return None

    async def _migrated(self, resource: Resource, version: int) -> bool:
        """Write all objects that have not been written since a version; return whether that is
        done. Raises _Unmigrated."""
        for stored in self._stored(resource):
            if stored.revision > version:
                continue
            obj = stored.object
            path = loops.resource_path(resource, metadata.namespace(obj), metadata.name(obj))
            same = {"uid": metadata.uid(obj), "resourceVersion": str(stored.revision)}
            gvk = resource.gvk
            body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": same}
            # An apply that asks for nothing changes nothing but the version that the object is
            # stored in. Its preconditions make it fail where somebody else has written, and that
            # has done the same.
            reply = await self.requests.apply(path, body, ACCOUNT)
            if reply.code == 409 or reply.code < 400:
                continue
            # As `isRetriableError`: those objects come again with the whole page after them.
            if reply.body.get("reason") in _FOR_NOW or reply.code == 429:
                return False
            if resource.by_webhook and "reason" not in reply.body:
                return False  # upstream's collector cannot list them, for which it is waited
            raise _Unmigrated(reply.message)
        return True

    def _stored(self, resource: Resource) -> Iterator[StoredObject]:
        """Yield every object, a page at a time; those that are written meanwhile are passed over by
        their revision."""
        start = ""
        while True:
            page = self.objects.page(resource, start=start, limit=PAGE)
            yield from page.objects
            if not page.remaining:
                return
            start = f"{page.last}\0"

    def _resource(self, migration: JsonObject) -> Resource | None:
        """Return the resource, in the version that clients prefer."""
        resource = migration["spec"]["resource"]
        named = GroupResource(resource.get("group", ""), resource["resource"])
        return loops.asked_resources(self.served().catalog).get(named)

    # --- the status ---

    async def _fail(self, migration: JsonObject, reason: str) -> None:
        failed = self._timed(
            loops.condition(FAILED, "True", "StorageVersionMigrationFailed", reason)
        )
        await self._write(migration, [*_conditions(migration), failed])

    async def _write(
        self, migration: JsonObject, conditions: Sequence[JsonObject], **more: str
    ) -> None:
        """Write conditions and more into the status of a migration. Raises Stale."""
        stored = self.migrations.get(metadata.name(migration))
        if stored is None:
            return
        # The decision was made by what was read; it is made again by what is there now.
        if metadata.resource_version(stored.object) != metadata.resource_version(migration):
            raise loops.Stale
        status = {**(migration.get("status") or {}), **more}
        if conditions:
            status["conditions"] = list(conditions)
        await self.migrations.write(stored, status)

    def _timed(self, value: JsonObject, generation: int = 0) -> JsonObject:
        """Return a condition with its time, and the generation that it is about."""
        now = self.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        generations = {"observedGeneration": generation} if generation else {}
        return {
            "type": value["type"],
            "status": value["status"],
            **generations,
            "lastTransitionTime": now,
            "reason": value["reason"],
            "message": value["message"],
        }

    def _seconds_since(self, migration: JsonObject) -> float:
        creation_timestamp = metadata.metadata(migration).get("creationTimestamp") or ""
        try:
            began = datetime.strptime(creation_timestamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        except ValueError:
            return 0.0
        return (self.now() - began).total_seconds()


def _item(migration: JsonObject) -> str:
    """Return the name of the definition, if the resource has one."""
    resource = (migration.get("spec") or {}).get("resource") or {}
    return f"{resource.get('resource', '')}.{resource.get('group', '')}"


def _at(migration: JsonObject) -> int:
    """Return the revision at which a migration began."""
    return int_or(migration["status"]["resourceVersion"], 2**63 - 1)


def _conditions(obj: JsonObject) -> Sequence[JsonObject]:
    return (obj.get("status") or {}).get("conditions") or ()


def _is_running(migration: JsonObject) -> bool:
    return loops.is_true(_conditions(migration), RUNNING)


def _is_over(migration: JsonObject) -> bool:
    return any(loops.is_true(_conditions(migration), text) for text in (SUCCEEDED, FAILED))


def _age(migration: JsonObject) -> tuple[str, str]:
    creation_timestamp = metadata.metadata(migration).get("creationTimestamp") or ""
    return creation_timestamp, metadata.name(migration)


def _is_collected(resource: Resource) -> bool:
    """Tell whether upstream's garbage collector, of whose cache migrations are made, knows the
    resource's objects."""
    return not is_event(resource) and _COLLECTED.issubset(resource.verbs)
