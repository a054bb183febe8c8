"""The validating policies in the store, as an engine that is ready to judge.

A policy is decoded and compiled once, when the first request comes after it was written. One that
cannot be decoded (it was stored by another release) takes no part.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

from celadon.admission import Engine
from celadon.admission.registration import (
    RegistrationError,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    decode_binding,
    decode_policy,
)
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.catalogue import Catalog, known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.views.mirror import Mirror

POLICIES = GroupVersionResource(ADMISSION_REGISTRATION, "v1", "validatingadmissionpolicies")
BINDINGS = GroupVersionResource(ADMISSION_REGISTRATION, "v1", "validatingadmissionpolicybindings")


class PolicyView:
    """`version` is the release whose CEL the policies are written in; `compiled` is told the
    seconds that taking in a change took."""

    def __init__(
        self,
        objects: ObjectStore,
        version: str,
        compiled: Callable[[float], None] = lambda _: None,
    ) -> None:
        catalog = known_resources()
        self._policies = Mirror(objects, _prefix(catalog, POLICIES))
        self._bindings = Mirror(objects, _prefix(catalog, BINDINGS))
        self._known_policies: _Known[ValidatingAdmissionPolicy] = {}
        self._known_bindings: _Known[ValidatingAdmissionPolicyBinding] = {}
        self._engine = Engine(version=version)
        self._compiled = compiled
        self._update()

    def engine(self) -> Engine:
        """With all policies and bindings there are now."""
        changed = self._policies.refresh()
        if self._bindings.refresh() or changed:
            self._update()
        return self._engine

    def _update(self) -> None:
        began = perf_counter()
        self._known_policies = _decoded(self._policies, self._known_policies, _policy)
        self._known_bindings = _decoded(self._bindings, self._known_bindings, _binding)
        self._engine = self._engine.replaced(
            [one for _, one in self._known_policies.values() if one is not None],
            [one for _, one in self._known_bindings.values() if one is not None],
        )
        self._compiled(perf_counter() - began)


_T = TypeVar("_T")
_Known = dict[str, tuple[Any, _T | None]]
"""By name, the spec it was decoded from, and what came out: None for what cannot be decoded."""


def _decoded(
    mirror: Mirror, known: _Known[_T], decode: Callable[[JsonObject], _T | None]
) -> _Known[_T]:
    """What has the spec that it had is the same object as before, so that nobody compiles it again:
    statuses are written, too."""
    made: _Known[_T] = {}
    for stored in mirror:
        name, spec = metadata.name(stored.object), stored.object.get("spec")
        found = known.get(name)
        if found is None or (found[0] is not spec and found[0] != spec):
            made[name] = spec, decode(stored.object)
        else:
            made[name] = spec, found[1]
    return made


def _policy(obj: JsonObject) -> ValidatingAdmissionPolicy | None:
    try:
        return decode_policy(obj).value
    except RegistrationError:
        return None


def _binding(obj: JsonObject) -> ValidatingAdmissionPolicyBinding | None:
    try:
        return decode_binding(obj).value
    except RegistrationError:
        return None


def _prefix(catalog: Catalog, gvr: GroupVersionResource) -> str:
    resource = catalog.by_gvr(gvr)
    assert resource is not None, f"no {gvr}"
    return collection_prefix(resource)
