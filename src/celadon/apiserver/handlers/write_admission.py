"""Admission of writes: the chain of `celadon.admission.chain`, in the halves that a write needs.

What changes objects comes before validation (`mutate`), the rest of the chain after it (`admit`).
Who is asked, and how the chain is driven, stands in `chain_driver`; here is what only a server has
beside it: rights of those who write, namespaces that come by themselves, rates of events, images.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Final

from celadon import kube
from celadon.admission import Operation, Request, Verdict, World, write_requests
from celadon.admission.chain import Chain
from celadon.admission.plugins import EventLimit, forbidden
from celadon.apiserver.authz.authorizer_chain import check_access, request_attributes
from celadon.apiserver.authz.escalation_checks import EscalationChecks, claim_status_errors
from celadon.apiserver.caches.store_informers import RoleView
from celadon.apiserver.forks import require_server
from celadon.apiserver.handlers.chain_driver import ServerAdmitters
from celadon.apiserver.handlers.request_context import Call, raise_refusal
from celadon.apiserver.quota_charging import QuotaCharging
from celadon.kube.fieldmanager import entries_problem
from celadon.kube.registry import Draft
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import RBAC_GROUP
from celadon.records import dataclass, replace

if TYPE_CHECKING:
    from celadon.apiserver.handlers.image_policy import ImagePolicy

# --- Event rates -------------------------------------------------------------
#
# EventRateLimit: how many events a server takes in a second, in all and of each source.
#
# It remembers, so that it is no function of a request as the other plugins are. As
# k8s.io/kubernetes `plugin/pkg/admission/eventratelimit`: every limit counts a request, and the
# last of those that are reached is told of.

EVENT: Final = kube.GroupKind("", "Event")
"""Not that of `events.k8s.io`."""
_WRITES: Final = frozenset({Operation.CREATE, Operation.UPDATE})
_INVOLVED: Final = ("kind", "namespace", "name", "uid", "apiVersion")


@dataclass(slots=True)
class _Bucket:
    """So many requests may come at once, at `time`."""

    tokens: float
    time: float


class EventRates:
    """The buckets of one server. `seconds` is a clock that never goes back."""

    def __init__(self, limits: Sequence[EventLimit], seconds: Callable[[], float]) -> None:
        self._limits = [(limit, OrderedDict[bytes, _Bucket]()) for limit in limits]
        self._seconds = seconds

    @property
    def has_limits(self) -> bool:
        """Return whether there is anything to count."""
        return bool(self._limits)

    def check(self, request: Request) -> None:
        """Count a request. Raises StatusError 429."""
        if not self._limits or request.dry_run or request.kind.group_kind != EVENT:
            return
        if request.operation not in _WRITES:
            return
        reached = ""
        for limit, buckets in self._limits:
            key = _key(limit.type, request)
            if not self._takes(limit, buckets, key):
                reached = f"limit reached on type {limit.type} for key {key}"
        if reached:
            raise kube.status.too_many_requests(reached)

    def _takes(self, limit: EventLimit, buckets: OrderedDict[bytes, _Bucket], key: str) -> bool:
        now = self._seconds()
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()  # keys can be long
        bucket = buckets.setdefault(digest, _Bucket(limit.burst, now))
        buckets.move_to_end(digest)
        if len(buckets) > limit.cache_size:
            buckets.popitem(last=False)
        bucket.tokens = min(limit.burst, bucket.tokens + (now - bucket.time) * limit.qps)
        bucket.time = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _key(type_: str, request: Request) -> str:
    match type_:
        case "Namespace":
            return request.namespace
        case "User":
            return request.user.name
        case "SourceAndObject":
            return _source_and_object(request.object or {})
    return ""


def _source_and_object(event: kube.JsonObject) -> str:
    source, involved = event.get("source") or {}, event.get("involvedObject") or {}
    parts = [source.get("component"), source.get("host"), *map(involved.get, _INVOLVED)]
    return "".join(part or "" for part in parts)


# --- Namespace provision -----------------------------------------------------
#
# NamespaceAutoProvision: a namespace comes with the first object in it.
#
# It is the one mutating plugin that writes. As k8s.io/kubernetes
# `plugin/pkg/admission/namespace/autoprovision`; off unless it is enabled.

AUTO_PROVISION: Final = "NamespaceAutoProvision"
"""The name of the plugin."""

Create = Callable[[str], Awaitable[str]]
"""Makes a namespace of that name; why that was not possible, empty if it was."""


@dataclass(frozen=True, slots=True, eq=False)
class NamespaceProvision:
    """Provides namespaces that are not there yet. `create` is None where nobody wants it."""

    world: World
    create: Create | None

    async def provide(self, request: Request) -> None:
        """Provide a namespace. Raises StatusError when there can be none of the name."""
        if self.create is None or request.operation is not Operation.CREATE or request.dry_run:
            return
        name = request.namespace
        if not name or request.resource.resource == "namespaces":
            return
        if self.world.namespace(name) is None:
            reason = await self.create(name)
            if reason:
                raise forbidden(request, reason)


_CLAIM_STATUS: Final = (kube.GroupResource("resource.k8s.io", "resourceclaims"), "status")
INVALID_MANAGED_FIELDS: Final = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests: "
)
_UNDRAFTED: Final = frozenset({Operation.DELETE, Operation.CONNECT})
"""Operations without an object that a plugin could change: both halves come one after the other."""


class Denied(Exception):
    """Admission has refused; the verdict's Status is the answer."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.code = verdict.code
        self.body: kube.JsonObject = verdict.status or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Asks whether a write may happen; what it says beside is noted in the call."""

    admitters: ServerAdmitters
    authorizer: kube.AuthorizerBackend
    roles: RoleView
    provision: NamespaceProvision
    quotas: QuotaCharging
    event_rates: EventRates
    images: ImagePolicy | None

    def check_roles(self, call: Call, new: kube.JsonObject, old: kube.JsonObject | None) -> None:
        """Nobody grants rights they lack. Raises StatusError; what is not of RBAC passes."""
        if call.info.group != RBAC_GROUP:
            return
        attributes = request_attributes(call.user, call.info, call.request)
        EscalationChecks(self.authorizer, self.roles.current()).check(attributes, new, old)

    def claim_status_errors(
        self, call: Call, new: kube.JsonObject, old: kube.JsonObject
    ) -> Sequence[kube.FieldError]:
        """Return what the writer may not change in the status of a ResourceClaim."""
        if (call.target.resource.gvr.group_resource, call.target.subresource) != _CLAIM_STATUS:
            return ()
        attributes = request_attributes(call.user, call.info, call.request)
        return tuple(claim_status_errors(attributes, self.authorizer, new, old))

    def check_creation(self, call: Call) -> None:
        """Check an update that creates: it has to be allowed as a create, too. Raises StatusError
        403, which before 1.32 says the reason of the authorizer alone."""
        attributes = replace(request_attributes(call.user, call.info, call.request), verb="create")
        if not is_since("1.32"):
            ruling, reason, error = self.authorizer.authorize(attributes)
            if ruling is not kube.Ruling.ALLOW and error is None:
                resource = kube.GroupResource(attributes.group, attributes.resource)
                raise kube.status.forbidden(resource, attributes.name, reason)
        check_access(attributes, self.authorizer)

    async def mutate(
        self, call: Call, operation: Operation, draft: Draft, old: kube.JsonObject | None = None
    ) -> Draft:
        """Let plugins and webhooks change an object on its way in. Raises StatusError."""
        options = None
        if operation is not Operation.CONNECT:
            options = write_requests.write_options(operation, call.options)
        dry_run = operation is not Operation.CONNECT and call.dry_run
        request = write_requests.request_of(
            call.target, operation, draft.decoded, old, call.user, options, dry_run=dry_run
        )
        entries = (draft.meta or {}).get("managedFields")
        chain = await self._mutated(call, request, draft)
        assert chain.draft is not None, "a draft stays a draft"
        if chain.rounds:
            _keep_managed_fields(call, chain.draft, entries)
        return chain.draft

    async def _mutated(self, call: Call, request: Request, draft: Draft | None) -> Chain:
        """Return the chain behind its first half."""
        await self.provision.provide(request)
        admitters = self.admitters.about(call)
        chain = Chain(request, draft, admitters, admitters)
        await admitters.mutated(chain)
        return chain

    async def admit(
        self,
        call: Call,
        operation: Operation,
        new: kube.JsonObject | None,
        old: kube.JsonObject | None,
        *,
        options: kube.JsonObject | None = None,
        dry_run: bool | None = None,
        name: str | None = None,
    ) -> kube.JsonObject | None:
        """Return the object as it was admitted: the options of a connection may have been changed.
        Raises Denied, StatusError. `options` and `dry_run` are given where they are not those of
        the query: for deletions, whose options may be a body."""
        if options is None and operation is not Operation.CONNECT:
            options = write_requests.write_options(operation, call.options)
        if dry_run is None:
            dry_run = operation is not Operation.CONNECT and call.dry_run
        request = write_requests.request_of(
            call.target, operation, new, old, call.user, options, name=name, dry_run=dry_run
        )
        if operation in _UNDRAFTED:
            request = (await self._mutated(call, request, None)).request
        admitters = self.admitters.about(call)
        if self.event_rates.has_limits or self.images is not None:
            require_server("what it remembers")
            self.event_rates.check(request)
        if self.images is not None:
            opinion = await self.images.opinion(request)
            admitters.take_opinion(opinion)
            raise_refusal(opinion.refusal)
        chain = Chain(request, None, admitters, admitters)
        await admitters.validated(chain)
        if not chain.verdict.allowed:
            raise Denied(chain.verdict)
        return request.object

    def charged(
        self,
        call: Call,
        operation: Operation,
        new: kube.JsonObject,
        old: kube.JsonObject | None = None,
        *,
        for_good: bool,
    ) -> AbstractAsyncContextManager[None]:
        """Around what stores an object: its quotas have a place for it, or StatusError is raised.
        Nothing is taken from them unless it is `for_good`."""
        if not self.quotas.are_in(call.target.namespace):
            return nullcontext()
        request = write_requests.request_of(call.target, operation, new, old, call.user)
        return self.quotas.charged(request, for_good=for_good)


def _keep_managed_fields(call: Call, draft: Draft, before: object) -> None:
    """Restore managed fields that nobody can read to what they were, with a warning. As
    k8s.io/apiserver `pkg/endpoints/handlers/fieldmanager/admission.go`."""
    meta = draft.decoded.get("metadata") or {}
    if draft.has_null_managers:
        if call.target.subresource == "status":
            meta.pop("managedFields", None)
        return
    problem = entries_problem(meta.get("managedFields"))
    if not problem:
        return
    if before is None:
        del meta["managedFields"]
    else:
        meta["managedFields"] = before
    call.notes.warnings.append(INVALID_MANAGED_FIELDS + problem)
