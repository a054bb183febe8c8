"""The policies in the store, validating or mutating, as an engine that is ready to judge; with them
static ones, from files of the server.

A policy is decoded and compiled once, when the first request comes after it was written. One that
cannot be decoded (it was stored by another release) takes no part.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final, Generic, TypeVar

from celadon.admission import Engine, PolicyEngine
from celadon.admission.policies.mutating import MutatingEngine
from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
    Binding,
    Policy,
    RememberedDecoding,
    decode_object,
)
from celadon.admission.static import NOTHING, StaticObjects
from celadon.apiserver.caches.mirror import Mirror
from celadon.apiserver.object_store import ObjectStore, collection_prefix
from celadon.kube import GroupVersionResource
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class PolicyKinds:
    """Policies of one type and their bindings: where they are, and what they are."""

    policies: GroupVersionResource
    bindings: GroupVersionResource
    policy: str
    binding: str


VALIDATING: Final = PolicyKinds(
    GroupVersionResource(ADMISSION_REGISTRATION, "v1", "validatingadmissionpolicies"),
    GroupVersionResource(ADMISSION_REGISTRATION, "v1", "validatingadmissionpolicybindings"),
    POLICY_KIND,
    BINDING_KIND,
)
MUTATING: Final = PolicyKinds(
    GroupVersionResource(ADMISSION_REGISTRATION, "v1", "mutatingadmissionpolicies"),
    GroupVersionResource(ADMISSION_REGISTRATION, "v1", "mutatingadmissionpolicybindings"),
    MUTATING_POLICY_KIND,
    MUTATING_BINDING_KIND,
)


def no_static() -> StaticObjects:
    """Of a server without such files."""
    return NOTHING


E = TypeVar("E", bound=PolicyEngine)


class PolicyView(Generic[E]):
    """`engine` is one without policies; `static` gives those of files, the same object for as long
    as they are the same; `compiled` is told the seconds that taking in a change took."""

    def __init__(
        self,
        objects: ObjectStore,
        engine: E,
        kinds: PolicyKinds,
        static: Callable[[], StaticObjects] = no_static,
        compiled: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._policies = Mirror(objects, _prefix(kinds.policies))
        self._bindings = Mirror(objects, _prefix(kinds.bindings))
        self._decoded_policies = RememberedDecoding(
            lambda obj: decode_object(obj, kinds.policy).value
        )
        self._decoded_bindings = RememberedDecoding(
            lambda obj: decode_object(obj, kinds.binding).value
        )
        self._engine = engine
        self._static = static
        self._seen_static = NOTHING
        self._compiled = compiled
        self._update()

    def engine(self) -> E:
        """With all policies and bindings there are now."""
        changed = self._policies.refresh()
        if self._bindings.refresh() or changed:
            self._update()
        static = self._static()
        if static is not self._seen_static:
            self._take_static(static)
        return self._engine

    def _update(self) -> None:
        began = perf_counter()
        self._engine = self._engine.replaced(
            self._decoded_policies.values(stored.object for stored in self._policies),
            self._decoded_bindings.values(stored.object for stored in self._bindings),
        )
        self._compiled(perf_counter() - began)

    def _take_static(self, static: StaticObjects) -> None:
        began = perf_counter()
        self._seen_static = static
        self._engine = self._engine.with_static(
            [one for one in static.objects if isinstance(one, Policy)],
            [one for one in static.objects if isinstance(one, Binding)],
        )
        self._compiled(perf_counter() - began)


def validating_view(
    objects: ObjectStore,
    version: str,
    static: Callable[[], StaticObjects] = no_static,
    compiled: Callable[[float], None] = lambda _: None,
) -> PolicyView[Engine]:
    """`version` is the release whose CEL the policies are written in."""
    return PolicyView(objects, Engine(version=version), VALIDATING, static, compiled)


def mutating_view(
    objects: ObjectStore,
    version: str,
    static: Callable[[], StaticObjects] = no_static,
    compiled: Callable[[float], None] = lambda _: None,
) -> PolicyView[MutatingEngine]:
    """The same for policies that change objects."""
    return PolicyView(objects, MutatingEngine(version=version), MUTATING, static, compiled)


def _prefix(gvr: GroupVersionResource) -> str:
    """In the store, whatever version of it the release stores."""
    every = known_resources(all_versions=True)
    resource = next(one for one in every if one.gvr.group_resource == gvr.group_resource)
    return collection_prefix(resource)
