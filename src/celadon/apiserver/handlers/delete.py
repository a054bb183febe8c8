"""Deletions, of one object or of what a list selects.

An object that finalizers hold, or that is given time, is marked and stays. As k8s.io/apiserver
`pkg/registry/generic/registry/store.go` (`Delete`, `DeleteCollection`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from celadon.admission import Operation, World, write_requests
from celadon.apiserver.handlers.read import ObjectList, Reader
from celadon.apiserver.handlers.request_context import Call, LostRace, read_delete_body
from celadon.apiserver.handlers.write import WriteResult
from celadon.apiserver.handlers.write_admission import Admission
from celadon.apiserver.loop_offloading import LARGE_BYTES
from celadon.apiserver.object_store import ObjectStore, StoredObject
from celadon.apiserver.request_info import EXACT, list_options
from celadon.kube import JsonObject, StatusError, metadata, status
from celadon.kube.protobuf import in_message_order
from celadon.kube.registry import Target, delete
from celadon.kube.registry.update import failed_precondition
from celadon.records import dataclass

_DeleteOptions: TypeAlias = delete.DeleteOptions


@dataclass(frozen=True, slots=True, eq=False)
class Deleter:
    """Deletions of one server. `now` gives the time as objects have it."""

    objects: ObjectStore
    reader: Reader
    world: World
    admission: Admission
    now: Callable[[], str]

    async def delete(self, call: Call) -> WriteResult:
        """Delete an object. Raises StatusError, Denied."""
        options = await call.work.step(_options, call)
        call.notes.warnings += delete.delete_warnings(options, call.target.resource.gvk)
        status.require_name(call.target.name)
        return await self._delete(call, options)

    async def delete_collection(self, call: Call) -> ObjectList:
        """Delete what a list selects, and return the list. Raises StatusError, Denied."""
        selected = await call.work.step(list_options, call.request, call.endpoint.resource)
        options = await call.work.step(_options, call)
        call.notes.warnings += delete.delete_warnings(options, call.target.resource.gvk)
        is_large = call.work.is_large
        if not selected.match and selected.resource_version not in ("", "0"):
            selected = replace(selected, match=EXACT)  # upstream reads page by page
        listed = await self.reader.collection(call.endpoint, selected, call.work)
        if listed.objects and call.target.is_namespaced and not call.target.namespace:
            raise status.namespace_required()
        is_long = call.work.is_large
        for obj in listed.objects:
            await asyncio.sleep(0)  # others have their turn, even if nothing is written
            call.work.is_large = is_large  # the list, or the one before, may have been; this is not
            endpoint = replace(
                call.endpoint, name=metadata.name(obj), namespace=metadata.namespace(obj)
            )
            try:
                await self._delete(replace(call, endpoint=endpoint), options, name="")
            except StatusError as error:
                if error.code != 404:
                    raise
        call.work.is_large |= is_long
        return listed

    async def evict(self, call: Call, options: _DeleteOptions) -> None:
        """Delete without asking admission, which has been asked about the eviction. An object that
        is gone already is no error."""
        while True:
            stored = self.objects.get(call.target.resource, call.target.namespace, call.target.name)
            if stored is None:
                return
            with contextlib.suppress(LostRace):
                await self._remove(call, stored, options)
                return

    async def _delete(
        self, call: Call, options: _DeleteOptions, name: str | None = None
    ) -> WriteResult:
        """`name` is what admission is told instead of the object's own: none for a collection, of
        whose options it is told as they have been given."""
        while True:
            stored = self.reader.existing(call.endpoint)
            with contextlib.suppress(LostRace), call.notes.rollback_on_retry():
                return await self._delete_once(call, stored, options, name)

    async def _delete_once(
        self, call: Call, stored: StoredObject, options: _DeleteOptions, name: str | None
    ) -> WriteResult:
        """Delete an object as it is now. Raises LostRace when somebody else has written in
        between."""
        target = call.target
        call.work.is_large |= stored.size > LARGE_BYTES
        old = await call.work.step(self.reader.shown, stored.object, target.resource)
        delete.require_deletable(options.preconditions, old, target)
        if not options.dry_run and self.reader.may_wait(target.resource):
            # Upstream begins with what it would store of the object in its cache.
            await call.work.step(self.reader.stored, old, target.resource)
        admitted_options = options if name == "" else delete.settled(options, old)
        if not delete.is_pending(old, options):
            await self.admission.admit(
                call,
                Operation.DELETE,
                None,
                old,
                options=write_requests.deletion_options(admitted_options),
                dry_run=bool(options.dry_run),
                name=name,
            )
        return await self._remove(call, stored, options)

    async def _remove(
        self, call: Call, stored: StoredObject, options: _DeleteOptions
    ) -> WriteResult:
        """Mark the object, or remove it. Who says that dependents are no orphans is told that it
        takes time (202). Raises LostRace when somebody else has written in between."""
        target = call.target
        resource = target.resource
        old = await call.work.step(self.reader.shown, stored.object, resource)
        step = await call.work.step(delete.marked, old, options, self.now())
        dry_run = bool(options.dry_run)
        space, revision = target.namespace, stored.revision
        if step is not None:
            at_once = delete.goes_at_once(step)
            code = 202 if options.orphan is False and not at_once else 200
            step = await call.work.step(in_message_order, step)
            if dry_run or step == old:
                return WriteResult(code, step)
            stored_form = await call.work.step(self.reader.stored, step, resource)
            changed = await self.objects.update(
                resource, space, target.name, stored_form, revision, work=call.work
            )
            if changed is None:
                raise LostRace
            self.reader.written(changed.object, resource)
            old = await call.work.step(self.reader.shown, changed.object, resource)
            if not at_once:
                return WriteResult(code, old)
            await self._remove_marked(target, old)
        elif dry_run and metadata.finalizers(old):
            return WriteResult(200, in_message_order(delete.nothing(target)))
        elif not dry_run:
            if metadata.finalizers(old) and (options.preconditions or {}).get("resourceVersion"):
                raise _unversioned(old, target)
            removed = await self.objects.delete(resource, space, target.name, revision)
            if removed is None:
                raise LostRace
        return WriteResult(200, delete.gone_answer(old, target))

    async def _remove_marked(self, target: Target, marked: JsonObject) -> None:
        """Remove what is marked to go at once, whatever has been written to it since: whoever asked
        again would be told that it is going already."""
        place = target.resource, target.namespace, target.name
        while True:
            stored = self.objects.get(*place)
            if stored is None or metadata.uid(stored.object) != metadata.uid(marked):
                return
            if await self.objects.delete(*place, stored.revision) is not None:
                return


def _unversioned(old: JsonObject, target: Target) -> StatusError:
    """Return the conflict (409) that upstream makes of a version that was right: it goes on with
    the version of the object that it did not write, where nothing but the finalizers that the
    options take away held it."""
    present = metadata.resource_version(old)
    reason = f"ResourceVersion in precondition: , ResourceVersion in object meta: {present}"
    return failed_precondition(target, reason)


def _options(call: Call) -> _DeleteOptions:
    """Return the options in the body, or in the query if there is no body."""
    body = None
    if call.request.body:
        body = delete.read_delete_options(read_delete_body(call), call.request.body)
        # Upstream's codec of these options writes them in the version of its memory.
        call.notes.sent = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal"} | {
            name: value for name, value in body.items() if name not in ("kind", "apiVersion")
        }
    return delete.delete_options(body, call.request.query)
