"""Creates, updates and patches: the write path of `celadon.kube.writes` around the store.

An update reads the object, works out what it shall become, and writes it if nobody else did in
between; else it begins again with what is there then. As k8s.io/apiserver
`pkg/registry/generic/registry/store.go` and `pkg/endpoints/handlers/{create,update,patch}.go`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from celadon.admission import Operation, World, writing
from celadon.admission.registration import STRATEGIES
from celadon.kube import FieldError, GroupResource, JsonObject, StatusError, User, metadata, status
from celadon.kube.apply import with_old_times
from celadon.kube.defaulting import DefaultingContext, Draft
from celadon.kube.library import parse_version
from celadon.kube.protobuf import in_message_order
from celadon.kube.writes import (
    Incoming,
    Surroundings,
    Target,
    deletions,
    patched,
    preconditions,
    read_patched,
    require_version,
    strategy_of,
    write_path,
)
from celadon.records import dataclass
from celadon.serve.access.claim_status_access import GATE, SINCE
from celadon.serve.objects.object_store import ObjectStore, StoredObject
from celadon.serve.rest.admitting.admission_chain import Admission
from celadon.serve.rest.bodies import checked_body, read_sent
from celadon.serve.rest.calls import Call, raise_refusal
from celadon.serve.rest.field_managers import FieldManagers
from celadon.serve.rest.reading import Reader
from celadon.serve.views.service_network_view import LiveNetwork, ServiceNetworkView
from celadon.serve.workers.request_work import LARGE_BYTES, Pace
from celadon.store import Condition

SCALE: Final = "scale"
NAME_ATTEMPTS: Final = 8
"""How often another name is generated when there is an object of that name."""


SERVICES: Final = GroupResource("", "services")


@dataclass(frozen=True, slots=True)
class Written:
    """What a write is answered with."""

    code: int
    object: JsonObject


_IncomingOf: TypeAlias = Callable[[Call, JsonObject, DefaultingContext], Incoming]
"""What becomes of an object by an update or a patch."""


class _Stale(Exception):
    """Somebody else has written in between."""


class Writer:
    """Writes of one server. `new_context` gives what a write needs besides the object: the time, a
    uid, a random suffix, the cluster."""

    def __init__(
        self,
        objects: ObjectStore,
        reader: Reader,
        world: World,
        admission: Admission,
        managers: FieldManagers,
        new_context: Callable[[User], DefaultingContext],
        network: ServiceNetworkView,
        version: str,
        gates: Mapping[str, bool],
    ) -> None:
        self._objects = objects
        self._reader = reader
        self._world = world
        self._admission = admission
        self._managers = managers
        self._new_context = new_context
        self._network = network
        self._version = version
        self._gates = gates
        self._pace = Pace()

    # --- verbs ---

    async def create(self, call: Call) -> Written:
        """POST. Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        return await self._created(call)

    async def update(self, call: Call) -> Written:
        """PUT. Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        read = await call.work.step(self._read_update, call, self._context(call))
        creates = strategy_of(call.target, STRATEGIES).created_by_update
        if creates and not call.target.subresource and self._stored(call) is None:
            _require_uid(call, read, None)
            return await self._created(call)
        return await self._changed(call, self._updating, is_patch=False)

    async def patch(self, call: Call) -> Written:
        """PATCH. Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        if call.options.apply and self._stored(call) is None and not call.target.subresource:
            return await self._created(call)
        return await self._changed(call, self._patched, is_patch=True)

    # --- create ---

    async def _created(self, call: Call) -> Written:
        names, said = 0, len(call.notes.warnings)
        while True:
            kept, generated, claims = await self._prepared(call)
            name = metadata.name(kept)
            exists = self._stored(call, name)
            for_good = exists is None and not call.dry_run
            charged = self._admission.charged(call, Operation.CREATE, kept, for_good=for_good)
            with contextlib.suppress(_Stale):
                async with charged:
                    return await self._stored_new(call, kept, name, claims)
            if claims and self._stored(call, name) is None:  # somebody else has what this was given
                del call.notes.warnings[said:]
                continue
            names += 1
            if not generated:
                raise self._exists(call, name)
            if names == NAME_ATTEMPTS:
                raise status.generated_name_exists(call.target.group_resource, name)

    async def _stored_new(
        self, call: Call, kept: JsonObject, name: str, claims: Collection[Condition]
    ) -> Written:
        """Raises _Stale when there is an object of that name, or a claim does not hold."""
        target = call.target
        if call.dry_run:
            return Written(201, self._dry(call, kept, name))
        made = await self._objects.create(target.resource, target.namespace, name, kept, claims)
        if made is None:
            raise _Stale
        return Written(201, self._reader.shown(made.object, target.resource))

    async def _prepared(self, call: Call) -> tuple[dict[str, Any], bool, Collection[Condition]]:
        """What shall be stored, whether its name was generated, what it claims."""
        target, notes = call.target, call.notes
        context = self._context(call)
        read, warnings = await call.work.step(self._new, call, context)
        draft = await self._admission.mutate(call, Operation.CREATE, read.draft)
        if draft is not read.draft:
            warnings += write_path.resume(draft, target, creates=True)
        generated = not metadata.name(draft.made)
        kind = target.kind, "create"
        made, said = await self._pace.step(
            call.work, kind, target.schema, self._finished, call, draft
        )
        notes.warnings += [*warnings, *said]
        if call.endpoint.verb != "create":
            self._admission.check_creation(call)
        await self._admission.admit(call, Operation.CREATE, made, None)
        preconditions.require_unversioned(made, dry_run=call.dry_run)
        made["metadata"].pop("resourceVersion", None)
        kept = await call.work.step(_stored_new, draft, made, target)
        return kept, generated, _claims(context)

    def _new(self, call: Call, context: DefaultingContext) -> tuple[Incoming, list[str]]:
        """What was sent, as mutating admission is going to see it, and the warnings of that."""
        target = call.target
        if call.options.apply:
            read = self._managers.applied(call, None, context)
            write_path.begin_update(read.draft, target)
        else:
            read = self._read(call, context)
            self._managers.created(call, read)
        warnings = write_path.write_warnings(read.draft.made, target, STRATEGIES, creates=True)
        write_path.prepare_create(read.draft, target)
        return read, warnings

    def _finished(self, call: Call, draft: Draft) -> tuple[dict[str, Any], list[str]]:
        """What validating admission sees, and the warnings of that. Raises StatusError."""
        target = call.target
        made = write_path.finish_create(draft)
        self._admission.check_roles(call, made, None)
        validated = draft.validated(made)
        raise_refusal(writing.refusal(target, validated, None, self._surroundings(call)))
        return made, write_path.made_warnings(made, None, target)

    def _dry(self, call: Call, kept: JsonObject, name: str) -> JsonObject:
        if self._stored(call, name) is not None:
            raise self._exists(call, name)
        return kept

    def _exists(self, call: Call, name: str) -> StatusError:
        found = self._stored(call, name)
        deleted = found is not None and bool(metadata.deletion_timestamp(found.object))
        return status.already_exists(call.target.group_resource, name, being_deleted=deleted)

    # --- update ---

    def _read_update(
        self, call: Call, context: DefaultingContext, *, again: bool = False
    ) -> Incoming:
        read = self._read(call, context, again=again)
        write_path.begin_update(read.draft, call.target)
        return read

    def _updating(self, call: Call, _: JsonObject, context: DefaultingContext) -> Incoming:
        return self._read_update(call, context, again=True)

    def _patched(self, call: Call, old: JsonObject, context: DefaultingContext) -> Incoming:
        if call.options.apply:
            read = self._managers.applied(call, old, context)
            write_path.begin_update(read.draft, call.target)
            return read
        shown = write_path.shown(old, call.target)
        body = checked_body(call)
        result = patched(shown, body, call.patch_type, call.target, call.field_validation)
        read = read_patched(result, call.target, context, call.field_validation)
        call.notes.warnings += read.warnings
        write_path.begin_update(read.draft, call.target)
        return read

    async def _changed(self, call: Call, incoming: _IncomingOf, *, is_patch: bool) -> Written:
        while True:
            stored = self._reader.existing(call.endpoint)
            at = call.endpoint
            if self._objects.size(at.resource, at.namespace, at.name) > LARGE_BYTES:
                call.work.is_large = True
            said = len(call.notes.warnings)
            try:
                return await self._attempt(call, stored, incoming, is_patch=is_patch)
            except _Stale:
                del call.notes.warnings[said:]

    async def _attempt(
        self,
        call: Call,
        stored: StoredObject,
        incoming: _IncomingOf,
        *,
        is_patch: bool,
    ) -> Written:
        target = call.target
        old = self._reader.shown(stored.object, target.resource)
        read = await call.work.step(
            self._incoming, call, incoming, old, self._context(call), is_patch
        )
        before = write_path.shown(old, target)
        managers = _set_aside(read.draft.made) if target.subresource == SCALE else None
        draft = await self._admission.mutate(call, Operation.UPDATE, read.draft, before)
        if draft is not read.draft:
            call.notes.warnings += write_path.resume(draft, target, creates=False)
        if managers is not None:
            draft.made["metadata"]["managedFields"] = managers
        read = replace(read, draft=draft)
        kind = target.kind, target.subresource, "update"
        made, kept = await self._pace.step(
            call.work, kind, target.schema, self._updated, call, old, read
        )
        if managers is not None:
            _set_aside(made)
        await self._admission.admit(call, Operation.UPDATE, made, before)
        if deletions.is_released(made, old):
            if not call.dry_run:
                await self._remove(call, stored)
            return Written(200, write_path.shown(kept, target))
        resource, namespace, revision = target.resource, target.namespace, stored.revision
        for_good = not call.dry_run
        async with self._admission.charged(call, Operation.UPDATE, made, before, for_good=for_good):
            if call.dry_run:
                return Written(200, write_path.shown(kept, target))
            claims = _claims(read.draft.run.context)
            done = await self._objects.update(
                resource, namespace, target.name, kept, revision, claims
            )
            if done is None:
                raise _Stale
        return Written(200, write_path.shown(self._reader.shown(done.object, resource), target))

    def _incoming(
        self,
        call: Call,
        incoming: _IncomingOf,
        old: JsonObject,
        context: DefaultingContext,
        is_patch: bool,  # noqa: FBT001 - steps have no keywords
    ) -> Incoming:
        """What is to become of the object, with its managers. Raises StatusError."""
        read = incoming(call, old, context)
        if not is_patch:
            _require_uid(call, read, old)
        self._managers.updated(call, read, old)
        return read

    def _updated(
        self, call: Call, old: JsonObject, read: Incoming
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What validating admission sees, and what shall be stored."""
        target = call.target
        before = write_path.shown(old, target)
        needs_version = strategy_of(target, STRATEGIES).needs_version
        preconditions.require_state(read.draft.made, before, target, needs_version=needs_version)
        warnings = write_path.write_warnings(read.draft.made, target, STRATEGIES)
        context = read.draft.run.context
        made = write_path.finish_update(read.draft, before, target, read.sent, STRATEGIES)
        surroundings = self._surroundings(call)
        self._admission.check_roles(call, made, before)
        draft = read.draft
        refusal = writing.refusal(
            target,
            draft.validated(made),
            draft.validated(before),
            surroundings,
            self._claim_status_errors(call, made, before),
        )
        call.notes.warnings += surroundings.forgiven
        raise_refusal(refusal)
        changed = write_path.stored_update(made, old, target, context)
        parent = replace(target, subresource="")
        if target.subresource == SCALE:
            raise_refusal(writing.refusal(parent, changed, old, surroundings))
        call.notes.warnings += [*warnings, *write_path.made_warnings(made, before, target)]
        kept = write_path.stored_object(changed, parent, context)
        return made, in_order(with_old_times(kept, old))

    async def _remove(self, call: Call, stored: StoredObject) -> None:
        target = call.target
        done = await self._objects.delete(
            target.resource, target.namespace, target.name, stored.revision
        )
        if done is None:
            raise _Stale

    # --- what all need ---

    def _context(self, call: Call) -> DefaultingContext:
        context = self._new_context(call.user)
        if call.target.group_resource != SERVICES:
            return context
        return replace(context, network=self._network.network(dry_run=call.dry_run))

    def _stored(self, call: Call, name: str = "") -> StoredObject | None:
        target = call.target
        return self._objects.get(target.resource, target.namespace, name or target.name)

    def _read(self, call: Call, context: DefaultingContext, *, again: bool = False) -> Incoming:
        """The body. It is read anew for every attempt, and complained about once."""
        read = read_sent(call, context)
        if not again:
            call.notes.warnings += read.warnings
        require_version(read, call.target)
        return read

    def _claim_status_errors(
        self, call: Call, new: JsonObject, old: JsonObject
    ) -> Iterable[FieldError]:
        is_on = self._gates.get(GATE, parse_version(self._version) >= SINCE)
        return self._admission.claim_status_errors(call, new, old) if is_on else ()

    def _surroundings(self, call: Call) -> Surroundings:
        world = self._world
        return Surroundings(
            self._version, call.user, world, world.catalog, world.authorize, self._gates
        )


def _stored_new(draft: Draft, made: dict[str, Any], target: Target) -> dict[str, Any]:
    return in_order(write_path.stored_new(draft, made, target))


def _claims(context: DefaultingContext) -> Collection[Condition]:
    """What was given to a Service that nobody else may have."""
    network = context.network
    return network.claims if isinstance(network, LiveNetwork) else ()


def _require_uid(call: Call, read: Incoming, old: JsonObject | None) -> None:
    uid = metadata.uid(read.sent)
    preconditions.require_uid(uid, old, call.target, dry_run=call.dry_run)


def _set_aside(scale: dict[str, Any]) -> object:
    """The managers that a scale has of the object it belongs to: admission does not see them."""
    return scale["metadata"].pop("managedFields", None)


def in_order(obj: dict[str, Any]) -> dict[str, Any]:
    """An object as it is stored and written out: the members as in the structs of its kind."""
    return in_message_order(obj)
