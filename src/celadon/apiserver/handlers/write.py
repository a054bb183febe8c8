"""Creates, updates and patches: the steps of `celadon.kube.registry` around the store.

A create reads the body (`_read_new`), lets mutating admission work, finishes and validates the
object (`_finish_new`), asks validating admission, and stores it. An update or a patch reads the
stored object, works out what it shall become (`_read_change`), goes through the same
(`_finish_change`), and is written if nobody else wrote in between; else it begins again with what
is there then. As k8s.io/apiserver `pkg/registry/generic/registry/store.go` and
`pkg/endpoints/handlers/{create,update,patch}.go`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from celadon.admission import Operation, World, write_requests
from celadon.admission.registration import STRATEGIES
from celadon.apiserver.authz.escalation_checks import GATE, SINCE
from celadon.apiserver.caches.served_resources import ServedResources
from celadon.apiserver.caches.service_allocators import LiveNetwork, ServiceNetworkView
from celadon.apiserver.conversion_webhooks import ConversionFailed, Conversions
from celadon.apiserver.handlers.read import Reader
from celadon.apiserver.handlers.request_context import (
    Call,
    LostRace,
    checked_body,
    note_sent,
    raise_refusal,
    read_configuration,
    read_sent,
)
from celadon.apiserver.handlers.write_admission import Admission, Denied
from celadon.apiserver.http_messages import JSON
from celadon.apiserver.loop_offloading import BRIEF_BYTES, LARGE_BYTES, Pace
from celadon.apiserver.object_store import ObjectStore, StoredObject
from celadon.kube import (
    FieldError,
    GroupResource,
    GroupVersionKind,
    JsonObject,
    StatusError,
    User,
    metadata,
    status,
)
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import (
    FieldWriter,
    UnshownVersion,
    Versions,
    applied,
    forget_managers,
    parent_managers,
    read_applied,
    scale_managers,
    track_create,
    track_update,
    with_old_times,
)
from celadon.kube.json_types import JsonDict
from celadon.kube.library import parse_version
from celadon.kube.protobuf import in_message_order
from celadon.kube.registry import (
    Draft,
    Incoming,
    Surroundings,
    Target,
    create,
    delete,
    patch,
    repeated_owner_warnings,
    request_bodies,
    require_version,
    shown_object,
    stored_object,
    strategy_of,
    update,
    valid_warnings,
    write_warnings,
)
from celadon.kube.releases import is_since
from celadon.kube.schemas import may_have_raw
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass, replace
from celadon.storage import Condition

# --- Field managers ----------------------------------------------------------
#
# Who owns which fields, at each write; and server-side apply, which goes by it.
#
# `celadon.kube.fieldmanager` does the work; here is what it needs to know of a request.

MANAGER_BYTES: Final = 128
"""Of the name that a User-Agent gives (k8s.io/apiserver `pkg/endpoints/handlers/rest.go`)."""


@dataclass(frozen=True, slots=True)
class FieldManagers:
    """The managers of one server's objects; they write at the time of the write's context."""

    served: ServedResources
    world: World
    conversions: Conversions

    def created(self, call: Call, read: Incoming) -> None:
        """Give a new object its managers."""
        track_create(read.draft, call.target, self._writer(call, read.draft.run.context))

    def updated(self, call: Call, read: Incoming, live: JsonObject) -> None:
        """Give a changed object its managers; `live` is the stored one. One that was applied has
        them already."""
        custom = call.target.schema
        if custom is not None and not custom.has_version(read.stated_kind):
            forget_managers(read.draft)
        elif not call.options.apply:
            writer = self._writer(call, read.draft.run.context)
            track_update(read.draft, read.body, live, call.target, writer)

    def of_scale(self, call: Call, live: JsonObject, context: DefaultingContext) -> JsonDict:
        """Return what the metadata of a scale that is patched has beside what is shown of it."""
        entries = scale_managers(live, call.target, self._writer(call, context))
        return {"managedFields": entries} if entries else {}

    def of_parent(
        self, call: Call, scale: JsonObject, live: JsonObject, context: DefaultingContext
    ) -> list[JsonDict]:
        """Return the managers of the object that a changed scale belongs to."""
        return parent_managers(scale, live, call.target, self._writer(call, context))

    def applied(self, call: Call, live: JsonObject | None, context: DefaultingContext) -> Incoming:
        """Return what follows from the configuration in the body. Raises StatusError."""
        config = read_configuration(call)
        force = bool(call.options.force)
        merged = applied(config.value, live, call.target, self._writer(call, context), force=force)
        if config.strict_error and call.field_validation == request_bodies.STRICT:
            raise status.bad_request(f"error strict decoding YAML: {config.strict_error}")
        if call.field_validation == request_bodies.WARN:
            call.notes.warnings += config.warnings
        return read_applied(merged, call.target, context, config.value)

    def _writer(self, call: Call, context: DefaultingContext) -> FieldWriter:
        custom = self.served.current().custom
        versions = Versions(custom.get, self._converted)
        return FieldWriter(_manager(call), context.now, versions)

    def _converted(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Return what is compared with the fields that somebody owns in another version. Raises
        UnshownVersion where a webhook does not convert it."""
        if not self.conversions.concern(kind.group_kind):
            return self.world.convert(obj, kind)
        try:
            return self.conversions.converted(obj, kind)
        except ConversionFailed as error:
            raise UnshownVersion(str(error)) from None


def _manager(call: Call) -> str:
    """Return the field manager: the one that the request names, else the beginning of its
    User-Agent."""
    if call.options.field_manager:
        return call.options.field_manager
    agent = call.request.header("user-agent").partition("/")[0]
    printable = agent if agent.isprintable() else "".join(filter(str.isprintable, agent))
    return printable.encode()[:MANAGER_BYTES].decode("utf-8", "ignore")


SCALE: Final = "scale"
NAME_ATTEMPTS: Final = 8
"""How often another name is generated when there is an object of that name."""

SERVICES: Final = GroupResource("", "services")


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Holds what a write is answered with."""

    code: int
    object: JsonObject


class _NewObject(NamedTuple):
    """Holds what a create is about to store, what it claims for it, whether its name was
    generated, whether the object is known to read back as it is, and where it has empty bytes."""

    object: JsonDict
    claims: Collection[Condition]
    has_generated_name: bool
    reads_back: bool
    empty_bytes: update.EmptyBytes


ReadChange: TypeAlias = Callable[[Call, JsonObject, DefaultingContext, StoredObject], Incoming]
"""What an update or a patch makes of the stored object, as the endpoint shows it and as it is."""

_Around: TypeAlias = tuple[Surroundings, update.EmptyBytes]
"""What validation may know besides, and where the stored object came with empty bytes."""


class _NameTaken(Exception):
    """There is an object of the name that a new one was to have."""

    def __init__(self, refusal: StatusError, *, is_generated: bool) -> None:
        super().__init__(refusal)
        self.refusal = refusal
        self.is_generated = is_generated


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

    async def create(self, call: Call) -> WriteResult:
        """POST. Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        return await self._create(call)

    async def update(self, call: Call) -> WriteResult:
        """PUT. Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        context = self._context(call)
        incoming = await call.work.step(self._read_update, call, context)
        status.require_name(call.target.name)
        if self._stored(call) is None:
            strategy = strategy_of(call.target, STRATEGIES)
            creates = strategy.created_by_update and strategy.creates_through(call.target)
            if creates or not is_since("1.34"):
                _require_uid(call, incoming, None)
            if creates:
                return await self._create(call)
        unused = [incoming]

        def read(call: Call, _: JsonObject, context: DefaultingContext, __: object) -> Incoming:
            return unused.pop() if unused else self._read_update(call, context, again=True)

        return await self._change(call, read, context)

    async def patch(self, call: Call) -> WriteResult:
        """PATCH. Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        call.notes.sent = {}
        status.require_name(call.target.name)
        is_new = call.options.apply and self._stored(call) is None
        if is_new and strategy_of(call.target, STRATEGIES).creates_through(call.target):
            return await self._create(call)
        return await self._change(call, self._read_patch, self._context(call))

    # --- create ---

    async def _create(self, call: Call) -> WriteResult:
        names_taken = 0
        while True:
            try:
                with call.notes.rollback_on_retry():
                    return await self._create_once(call)
            except LostRace:
                continue
            except _NameTaken as collision:
                names_taken += 1
                if not collision.is_generated or names_taken == NAME_ATTEMPTS:
                    raise_refusal(collision.refusal)

    async def _create_once(self, call: Call) -> WriteResult:
        """Create an object. Raises LostRace when somebody else has what was claimed for it,
        _NameTaken."""
        new = await self._admitted_new(call)
        target = call.target
        # Where the path names the object, it is kept there, whatever mutators have called it.
        name = target.name or metadata.name(new.object)
        for_good = self._stored(call, name) is None and not call.dry_run
        async with self._admission.charged(call, Operation.CREATE, new.object, for_good=for_good):
            step = await call.work.step(self._reader.stored, new.object, target.resource)
            if call.dry_run:
                if self._stored(call, name) is not None:
                    raise self._already_exists(call, new.object, name)
                return WriteResult(201, await self._shown(call, step))
            created = await self._objects.create(
                target.resource, target.namespace, name, step, new.claims, call.work
            )
            if created is None:
                if new.claims and self._stored(call, name) is None:
                    raise LostRace
                refusal = self._already_exists(call, new.object, name)
                raise _NameTaken(refusal, is_generated=new.has_generated_name)
        self._reader.written(created.object, target.resource)
        created.reads_back = new.reads_back or None
        created.empty_bytes = new.empty_bytes
        return WriteResult(201, await self._shown(call, created.object))

    async def _shown(self, call: Call, obj: JsonObject) -> JsonObject:
        """Return a stored object in the version of the request."""
        return await call.work.step(self._reader.shown, obj, call.target.resource)

    async def _admitted_new(self, call: Call) -> _NewObject:
        """Return the object that a create may store: read, mutated, validated, admitted."""
        target = call.target
        context = self._context(call)
        incoming, warnings = await call.work.step(self._read_new, call, context)
        sent_name = metadata.name(incoming.draft.decoded)
        draft = await self._admission.mutate(call, Operation.CREATE, incoming.draft)
        if draft is not incoming.draft:
            call.notes.warnings += create.resume(draft, target)
            incoming = replace(incoming, draft=draft)
        has_generated_name = not metadata.name(draft.decoded)
        kind = target.kind, "create"
        result, more_warnings = await self._pace.step(
            call.work,
            kind,
            target.schema,
            self._finish_new,
            call,
            incoming,
            self._surroundings(call),
            aside=call.work.is_expressive and not _is_brief_registration(call),
        )
        call.notes.warnings += [*warnings, *more_warnings]
        if call.endpoint.verb != "create":
            self._admission.check_creation(call)
        # A request keeps its name, whatever mutators have called the object.
        seen = draft.admitted(result, target)
        await self._admission.admit(call, Operation.CREATE, seen, None, name=sent_name)
        if not call.dry_run:  # which upstream answers with the version that was sent
            create.drop_version(result, is_update=call.endpoint.verb != "create")
        stored, reads_back = await call.work.step(_stored_new, draft, result, call)
        empty = update.empty_bytes(draft)
        return _NewObject(stored, _claims(context), has_generated_name, reads_back, empty)

    def _read_new(self, call: Call, context: DefaultingContext) -> tuple[Incoming, list[str]]:
        """Return what was sent, as mutating admission is going to see it, and the warnings of
        that."""
        target = call.target
        if call.options.apply:
            incoming = self._managers.applied(call, None, context)
            update.begin_update(incoming.draft, target)
        else:
            incoming = self._read(call, context)
            self._managers.created(call, incoming)
        warnings = write_warnings(incoming.draft.decoded, target, STRATEGIES)
        owner_warnings = _owner_warnings(call, incoming)
        is_update = call.endpoint.verb != "create"
        # Another namespace is refused unwarned.
        create.prepare_create(incoming.draft, target, is_update=is_update)
        call.notes.warnings += owner_warnings
        return incoming, warnings

    def _finish_new(
        self, call: Call, incoming: Incoming, surroundings: Surroundings
    ) -> tuple[JsonDict, list[str]]:
        """Return what validating admission sees, and the warnings of that. Raises StatusError."""
        target, draft = call.target, incoming.draft
        if call.endpoint.verb != "create":
            update.version_of(draft.decoded)
        call.notes.warnings += create.conversion_warnings(draft.decoded, target)
        new = create.finish_create(draft)
        patch.require_kind(incoming, target, metadata.name(new))
        self._admission.check_roles(call, new, None)
        validated = draft.validated(new)
        raise_refusal(write_requests.refusal(target, validated, None, surroundings))
        strategy_of(target, STRATEGIES).canonicalize(new)
        # What is created through a subresource is warned of as any new object.
        warned = replace(target, subresource="") if target.subresource else target
        return new, valid_warnings(new, None, warned)

    def _already_exists(self, call: Call, new: JsonObject, name: str) -> StatusError:
        stored = self._stored(call, name)
        return status.already_exists(
            call.target.group_resource,
            name,
            being_deleted=stored is not None and bool(metadata.deletion_timestamp(stored.object)),
            generates=bool(metadata.metadata(new).get("generateName")),
        )

    # --- update and patch ---

    async def _change(
        self, call: Call, read: ReadChange, context: DefaultingContext
    ) -> WriteResult:
        """`context` is that of the first try."""
        endpoint = call.endpoint
        while True:
            stored = self._reader.existing(endpoint)
            call.work.is_large |= stored.size > LARGE_BYTES
            with contextlib.suppress(LostRace), call.notes.rollback_on_retry():
                return await self._change_once(call, stored, read, context)
            context = self._context(call)

    async def _change_once(
        self,
        call: Call,
        stored: StoredObject,
        read: ReadChange,
        context: DefaultingContext,
    ) -> WriteResult:
        """Change an object as it is now. Raises LostRace when somebody else has written in
        between."""
        resource = call.target.resource
        read_old = self._reader.shown if call.dry_run else self._reader.cached
        old = await call.work.step(read_old, stored.object, resource)
        try:
            return await self._changed(call, stored, old, read, context)
        except (StatusError, Denied):
            if not call.dry_run:
                await self._require_storable(call, old)
            raise

    async def _require_storable(self, call: Call, old: JsonObject) -> None:
        """Upstream begins with what it would store of the object in its cache: while the webhook is
        out of reach, that is all there is to say. Who is going to store something learns it
        anyway."""
        resource = call.target.resource
        if self._reader.may_wait(resource):
            await call.work.step(self._reader.stored, old, resource)

    async def _changed(
        self,
        call: Call,
        stored: StoredObject,
        old: JsonObject,
        read: ReadChange,
        context: DefaultingContext,
    ) -> WriteResult:
        """Do what `_change_once` does, of an object as the endpoint shows it."""
        target = call.target
        incoming = await call.work.step(self._read_change, call, read, old, context, stored)
        before = shown_object(old, target, no_count=0)
        incoming = await self._mutated(call, incoming, old, before)
        kind = target.kind, target.subresource, "update"
        result, stored_new, reads_back = await self._pace.step(
            call.work,
            kind,
            target.schema,
            self._finish_change,
            call,
            old,
            incoming,
            (self._surroundings(call), stored.empty_bytes),
            aside=call.work.is_expressive,
        )
        if target.subresource == SCALE:
            _take_managers(result)
        seen = incoming.draft.admitted(result, target)
        await self._admission.admit(call, Operation.UPDATE, seen, before)
        if delete.is_released(result, old):
            if not call.dry_run:
                await self._require_storable(call, old)
                await self._remove(call, stored)
            return WriteResult(200, shown_object(stored_new, target, no_count=0))
        for_good = not call.dry_run
        async with self._admission.charged(
            call, Operation.UPDATE, result, before, for_good=for_good
        ):
            _require_convertible(incoming.draft, target)
            new = await call.work.step(self._reader.stored, stored_new, target.resource)
            if call.dry_run:
                return await self._changed_to(call, new)
            claims = _claims(incoming.draft.run.context)
            place = target.resource, target.namespace, target.name
            written = await self._objects.update(*place, new, stored.revision, claims, call.work)
            if written is None:
                raise LostRace
        self._reader.written(written.object, target.resource)
        written.reads_back = (reads_back and stored.reads_back) or None
        written.empty_bytes = update.empty_bytes(incoming.draft)
        return await self._changed_to(call, written.object)

    async def _changed_to(self, call: Call, obj: JsonObject) -> WriteResult:
        """Return the answer to a change that has made this object."""
        return WriteResult(200, shown_object(await self._shown(call, obj), call.target, no_count=0))

    async def _mutated(
        self, call: Call, incoming: Incoming, old: JsonObject, before: JsonObject
    ) -> Incoming:
        """Return the change as mutating admission leaves it, which sees the managers that a scale
        has, and a mark where there was no count."""
        target, draft = call.target, incoming.draft
        if target.subresource == SCALE:
            before = shown_object(old, target, no_count=patch.NO_COUNT)
            managers = self._managers.of_scale(call, old, draft.run.context)
            before["metadata"] = {**metadata.metadata(before), **managers}
        mutated = await self._admission.mutate(call, Operation.UPDATE, draft, before)
        if mutated is draft:
            return incoming
        if target.subresource != SCALE:  # before a namespace that mutators have changed is refused
            _require_state(mutated, before, target)
        call.notes.warnings += update.resume(mutated, target)
        return replace(incoming, draft=mutated)

    def _read_change(
        self,
        call: Call,
        read: ReadChange,
        old: JsonObject,
        context: DefaultingContext,
        stored: StoredObject,
    ) -> Incoming:
        """Return what is to become of the object, with its managers. Raises StatusError."""
        incoming = read(call, old, context, stored)
        if call.endpoint.verb != "patch":
            _require_uid(call, incoming, old)
        self._managers.updated(call, incoming, old)
        return incoming

    def _read_update(
        self, call: Call, context: DefaultingContext, *, again: bool = False
    ) -> Incoming:
        incoming = self._read(call, context, again=again)
        update.begin_update(incoming.draft, call.target)
        return incoming

    def _read_patch(
        self, call: Call, old: JsonObject, context: DefaultingContext, stored: StoredObject
    ) -> Incoming:
        if call.options.apply:
            incoming = self._managers.applied(call, old, context)
        else:
            current = shown_object(old, call.target, no_count=patch.NO_COUNT)
            if call.target.subresource == SCALE:
                managers = self._managers.of_scale(call, old, context)
                current["metadata"] = {**metadata.metadata(current), **managers}
            body = checked_body(call)
            result = patch.patched(
                current, body, call.patch_type, call.target, call.field_validation
            )
            settled = old if _reads_back(call.target, stored, old, context) else None
            try:
                incoming = patch.read_patched(
                    result, call.target, context, call.field_validation, settled
                )
            except patch.Unversioned as error:
                call.notes.warnings += error.warnings
                raise
            call.notes.warnings += incoming.warnings
        update.begin_update(incoming.draft, call.target)
        return incoming

    def _finish_change(
        self,
        call: Call,
        old: JsonObject,
        incoming: Incoming,
        around: _Around,
    ) -> tuple[JsonDict, JsonDict, bool]:
        """Return what validating admission sees, what shall be stored, and whether that reads back
        as it is if the old object does. Raises StatusError."""
        target, draft, (surroundings, empty_before) = call.target, incoming.draft, around
        if target.is_scale_of_custom:
            patch.require_count(draft.decoded, target)
        before = shown_object(old, target, no_count=0)
        is_own_scale = target.subresource == SCALE and target.schema is None
        if not is_own_scale:
            _require_state(draft, before, target)
        patch.require_kind(incoming, target, target.name)
        warnings = write_warnings(draft.decoded, target, STRATEGIES)
        call.notes.warnings += _owner_warnings(call, incoming)
        new = update.finish_update(draft, before, target, STRATEGIES, empty_before)
        self._admission.check_roles(call, new, before)
        # A scale is judged with the metadata that was sent, of which nothing is kept.
        judged = {**new, "metadata": metadata.metadata(draft.form())} if is_own_scale else new
        refusal = write_requests.refusal(
            target,
            draft.validated(judged),
            draft.validated(before),
            surroundings,
            self._claim_status_errors(call, new, before),
        )
        call.notes.warnings += surroundings.forgiven
        raise_refusal(refusal)
        if not target.subresource:
            strategy_of(target, STRATEGIES).canonicalize(new)
        if target.subresource == SCALE:
            managers = self._managers.of_parent(call, new, old, draft.run.context)
            new["metadata"]["managedFields"] = managers
        stored_form = update.stored_update(draft, new, old, target, dry_run=call.dry_run)
        warnings += valid_warnings(new, before, target)
        if target.subresource == SCALE:
            if is_own_scale:
                update.require_state_of_scale(draft.decoded, before, target)
            parent = replace(target, subresource="")
            raise_refusal(write_requests.refusal(parent, stored_form, old, surroundings))
            warnings += valid_warnings(stored_form, old, parent)
            stored_form = stored_object(stored_form, parent, draft.run.context)
        call.notes.warnings += warnings
        ordered = in_message_order(with_old_times(stored_form, old), draft.run.shared)
        return new, ordered, stored_form is new

    async def _remove(self, call: Call, stored: StoredObject) -> None:
        target = call.target
        removed = await self._objects.delete(
            target.resource, target.namespace, target.name, stored.revision
        )
        if removed is None:
            raise LostRace

    # --- what all need ---

    def _context(self, call: Call) -> DefaultingContext:
        context = self._new_context(call.user)
        if call.target.group_resource != SERVICES:
            return context
        network = self._network.network(dry_run=call.dry_run)
        return replace(context, network=network, allocating=not call.target.subresource)

    def _stored(self, call: Call, name: str = "") -> StoredObject | None:
        target = call.target
        if target.is_namespaced and not target.namespace:
            raise status.namespace_required()
        return self._objects.get(target.resource, target.namespace, name or target.name)

    def _read(self, call: Call, context: DefaultingContext, *, again: bool = False) -> Incoming:
        """Return the body. It is read anew for every attempt, and complained about once."""
        incoming = read_sent(call, context)
        if not again:
            call.notes.warnings += incoming.warnings
        require_version(incoming, call.target)
        if not again:
            note_sent(call, incoming)
        return incoming

    def _claim_status_errors(
        self, call: Call, new: JsonObject, old: JsonObject
    ) -> Iterable[FieldError]:
        is_on = self._gates.get(GATE, parse_version(self._version) >= SINCE)
        return self._admission.claim_status_errors(call, new, old) if is_on else ()

    def _surroundings(self, call: Call) -> Surroundings:
        """Return the surroundings of a write, asked for on the loop: a step in a worker would have
        to wait for it."""
        world = self._world
        return Surroundings(call.user, world, world.catalog, world.authorize, self._gates)


def _is_brief_registration(call: Call) -> bool:
    """Return whether a policy, a binding or a webhook is sent of so few bytes that nothing takes
    long."""
    is_registration = call.target.kind.group == ADMISSION_REGISTRATION
    if not is_registration or call.content_type != JSON or len(call.request.body) > BRIEF_BYTES:
        return False
    return not any(word in call.request.body for word in _DOUBLING)


_DOUBLING: Final = (b"optMap", b"optFlatMap", b"\\u")
"""Macros that copy what they are called on, so that a chain of ten is a hundred thousand nodes; and
how JSON may write them otherwise."""


def _stored_new(draft: Draft, obj: JsonDict, call: Call) -> tuple[JsonDict, bool]:
    """Return what is stored of a new object, and whether it is known to read back as it is. Raises
    StatusError."""
    _require_convertible(draft, call.target)
    stored = create.stored_new(draft, obj, call.target, dry_run=call.dry_run)
    return in_message_order(stored), stored is obj and call.target.group_resource != SERVICES


def _require_convertible(draft: Draft, target: Target) -> None:
    """Raise StatusError (500) for metadata that a mutator has spoiled, of what is stored in another
    version: in its own, a custom resource is written as it is, and read without what does not
    fit."""
    if draft.unsound and target.kind.version != target.resource.storage_version:
        fault = draft.unwritable(target)
        if fault:
            raise status.plain_error(fault)


def _reads_back(
    target: Target, stored: StoredObject, old: JsonObject, context: DefaultingContext
) -> bool:
    """Return whether reading a stored object as the endpoint shows it gives the same again, so that
    what a patch leaves alone need not be read again. Raw JSON is always read."""
    if old is not stored.object or target.schema is not None or target.subresource == SCALE:
        return False
    if stored.reads_back is None:
        stored.reads_back = patch.reads_back(old, target.kind, context)
    return stored.reads_back and not may_have_raw(old)


def _claims(context: DefaultingContext) -> Collection[Condition]:
    """Return what was given to a Service that nobody else may have."""
    network = context.network
    return network.claims if isinstance(network, LiveNetwork) else ()


def _owner_warnings(call: Call, incoming: Incoming) -> list[str]:
    is_patch = call.endpoint.verb == "patch"
    return repeated_owner_warnings(incoming.draft.decoded, mutated=is_patch)


def _require_uid(call: Call, incoming: Incoming, old: JsonObject | None) -> None:
    uid = metadata.uid(incoming.body)
    update.require_uid(uid, old, call.target, dry_run=call.dry_run)


def _require_state(draft: Draft, before: JsonObject, target: Target) -> None:
    """Raise StatusError unless the stored object is in the state that a change was made for."""
    needs_version = strategy_of(target, STRATEGIES).needs_version
    update.require_state(draft.decoded, before, target, needs_version=needs_version)


def _take_managers(scale: JsonDict) -> object:
    """Take the managers out of a scale and return them."""
    return scale["metadata"].pop("managedFields", None)
