"""The policies in the store, validating or mutating, as an engine that is ready to judge; with them
static ones, from files of the server.

A policy is decoded and compiled once, when the first request comes after it was written, by a
worker of that request. One that cannot be decoded (it was stored by another release) takes no part.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final, Generic, TypeVar

from celadon.admission import Engine, PolicyEngine, is_exempt, registration
from celadon.admission.policies.mutating import MutatingEngine
from celadon.admission.static_manifests import NOTHING, StaticObjects
from celadon.apiserver.caches.store_informers import Mirror
from celadon.apiserver.object_store import ObjectStore, collection_prefix
from celadon.apiserver.workers import on_loop
from celadon.kube import GroupVersionResource, JsonObject
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
    registration.POLICY_KIND,
    registration.BINDING_KIND,
)
MUTATING: Final = PolicyKinds(
    GroupVersionResource(ADMISSION_REGISTRATION, "v1", "mutatingadmissionpolicies"),
    GroupVersionResource(ADMISSION_REGISTRATION, "v1", "mutatingadmissionpolicybindings"),
    registration.MUTATING_POLICY_KIND,
    registration.MUTATING_BINDING_KIND,
)


def no_static() -> StaticObjects:
    """Return the static objects of a server without such files."""
    return NOTHING


E = TypeVar("E", bound=PolicyEngine)


@dataclass(slots=True, eq=False)
class _Contents:
    """Policies and bindings, once somebody has wanted to see them: to list all of them at each
    change would make writing `n` of them a matter of `n` times `n`."""

    objects: tuple[tuple[JsonObject, ...], tuple[JsonObject, ...]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StoredPolicies:
    """Holds what an engine is made of. It is one object for as long as all is the same."""

    contents: _Contents
    static: StaticObjects
    is_empty: bool = False
    """Whether there are no policies."""


class PolicyView(Generic[E]):
    """Shows the policies that are in force. `engine` is one without policies; `static` gives those
    of files, the same object for as long as they are the same; `compiled` is told the seconds that
    taking in a change took.

    INVARIANT (made for): an engine is kept together with what it was made of. So a thread that is
    still making one keeps no other from seeing that it is not the current one.
    """

    def __init__(
        self,
        objects: ObjectStore,
        engine: E,
        kinds: PolicyKinds,
        static: Callable[[], StaticObjects] = no_static,
        compiled: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._revision = -1
        """The one of the last look."""
        self._store = objects
        self._policies = Mirror(objects, _prefix(kinds.policies))
        self._bindings = Mirror(objects, _prefix(kinds.bindings))
        self._decoded_policies = registration.RememberedDecoding(
            lambda obj: registration.decode_object(obj, kinds.policy).value
        )
        self._decoded_bindings = registration.RememberedDecoding(
            lambda obj: registration.decode_object(obj, kinds.binding).value
        )
        self._static = static
        self._compiled = compiled
        self._stored = StoredPolicies(_Contents(), NOTHING, not len(self._policies))
        self._latest_engine = self._stored, self._with_objects(engine, self._stored)

    @on_loop
    def rules(self) -> StoredPolicies:
        """Return the rules, another object when policies have changed. Nothing is compiled for
        it."""
        revision, changed, static = self._store.store.revision(), False, self._static()
        if revision != self._revision:
            changed = self._policies.refresh()
            changed |= self._bindings.refresh()
            self._revision = revision
        if changed or static is not self._stored.static:
            contents = _Contents() if changed else self._stored.contents
            is_empty = not len(self._policies) and not static.objects
            self._stored = StoredPolicies(contents, static, is_empty)
        return self._stored

    @on_loop
    def rules_for(self, resource: GroupVersionResource) -> StoredPolicies | None:
        """Return the same; None if no policy could ever see requests for the resource. No engine is
        made to find out: who writes a thousand policies does not wait for a thousand engines."""
        rules = self.rules()
        if is_exempt(resource) and (not rules.static.objects or is_exempt(resource, static=True)):
            return None
        return rules

    def engine(self, rules: StoredPolicies) -> E:
        """Return an engine with the policies and bindings that `rules` has told of, in whatever
        thread."""
        made_for, engine = self._latest_engine
        if made_for is not rules:
            if made_for.contents is not rules.contents:
                engine = self._with_objects(engine, rules)
            if made_for.static is not rules.static:
                engine = self._with_static(engine, rules.static)
            self._latest_engine = rules, engine
        return engine

    @on_loop
    def _objects(
        self, contents: _Contents
    ) -> tuple[tuple[JsonObject, ...], tuple[JsonObject, ...]]:
        """Return the policies and their bindings. When there are others already, these, which then
        come into force a moment before they are asked for."""
        if contents.objects is None:
            contents.objects = (
                tuple(stored.object for stored in self._policies),
                tuple(stored.object for stored in self._bindings),
            )
        return contents.objects

    def _with_objects(self, engine: E, rules: StoredPolicies) -> E:
        began = perf_counter()
        policies, bindings = self._objects(rules.contents)
        replaced = engine.replaced(
            self._decoded_policies.values(policies), self._decoded_bindings.values(bindings)
        )
        self._compiled(perf_counter() - began)
        return replaced

    def _with_static(self, engine: E, static: StaticObjects) -> E:
        began = perf_counter()
        combined = engine.with_static(
            [item for item in static.objects if isinstance(item, registration.Policy)],
            [item for item in static.objects if isinstance(item, registration.Binding)],
        )
        self._compiled(perf_counter() - began)
        return combined


def has_kinds(kinds: PolicyKinds) -> bool:
    """Return whether the release has policies of these kinds. Gates are older: 1.30 knows that of
    mutating policies."""
    return any(
        resource.gvr.group_resource == kinds.policies.group_resource
        for resource in known_resources(all_versions=True)
    )


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
    """Make the view for policies that change objects."""
    return PolicyView(objects, MutatingEngine(version=version), MUTATING, static, compiled)


def _prefix(gvr: GroupVersionResource) -> str:
    """Return the prefix in the store, whatever version the release stores."""
    every = known_resources(all_versions=True)
    resource = next(
        resource for resource in every if resource.gvr.group_resource == gvr.group_resource
    )
    return collection_prefix(resource)
