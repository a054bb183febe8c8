"""The validating policies in the store, as an engine that is ready to judge.

A policy is decoded and compiled once, when the first request comes after it was written. One that
cannot be decoded (it was stored by another release) takes no part.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from celadon.admission import Engine
from celadon.admission.registration import (
    RegistrationError,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    decode_binding,
    decode_policy,
)
from celadon.kube import GroupVersionResource
from celadon.kube.catalogue import Catalog, known_resources
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore, StoredObject
from celadon.serve.views.mirror import Mirror

GROUP = "admissionregistration.k8s.io"
POLICIES = GroupVersionResource(GROUP, "v1", "validatingadmissionpolicies")
BINDINGS = GroupVersionResource(GROUP, "v1", "validatingadmissionpolicybindings")


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
        self._decoded: dict[int, ValidatingAdmissionPolicy | None] = {}
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
        self._decoded = {one.revision: self._policy(one) for one in self._policies}
        policies = [one for one in self._decoded.values() if one is not None]
        bindings = [one for stored in self._bindings if (one := _binding(stored)) is not None]
        self._engine = self._engine.replaced(policies, bindings)
        self._compiled(perf_counter() - began)

    def _policy(self, stored: StoredObject) -> ValidatingAdmissionPolicy | None:
        """The same object as before for what has not changed, so that it is not compiled again."""
        if stored.revision in self._decoded:
            return self._decoded[stored.revision]
        try:
            return decode_policy(stored.object).value
        except RegistrationError:
            return None


def _binding(stored: StoredObject) -> ValidatingAdmissionPolicyBinding | None:
    try:
        return decode_binding(stored.object).value
    except RegistrationError:
        return None


def _prefix(catalog: Catalog, gvr: GroupVersionResource) -> str:
    resource = catalog.by_gvr(gvr)
    assert resource is not None, f"no {gvr}"
    return collection_prefix(resource)
