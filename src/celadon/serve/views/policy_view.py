"""The validating policies in the store, as an engine that is ready to judge.

A policy is decoded and compiled once, when the first request comes after it was written. One that
cannot be decoded (it was stored by another release) takes no part.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from celadon.admission import Engine
from celadon.admission.registration import RememberedDecoding, decode_binding, decode_policy
from celadon.kube import GroupVersionResource
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
        self._decoded_policies = RememberedDecoding(lambda obj: decode_policy(obj).value)
        self._decoded_bindings = RememberedDecoding(lambda obj: decode_binding(obj).value)
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
        self._engine = self._engine.replaced(
            self._decoded_policies.values(stored.object for stored in self._policies),
            self._decoded_bindings.values(stored.object for stored in self._bindings),
        )
        self._compiled(perf_counter() - began)


def _prefix(catalog: Catalog, gvr: GroupVersionResource) -> str:
    resource = catalog.by_gvr(gvr)
    assert resource is not None, f"no {gvr}"
    return collection_prefix(resource)
