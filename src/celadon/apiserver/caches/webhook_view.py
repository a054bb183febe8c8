"""The webhook configurations in the store, as sets of hooks that know whom they concern; with them
static ones, from files of the server.

A configuration is decoded once, when the first request comes after it was written, by a worker of
that request; its conditions are compiled when a request concerns them. One that cannot be decoded
(it was stored by another release) takes no part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from celadon.admission.registration import RegistrationError, WebhookConfiguration, decode_webhooks
from celadon.admission.static import NOTHING, StaticObjects
from celadon.admission.webhooks import HookSet
from celadon.apiserver.caches.mirror import Mirror
from celadon.apiserver.caches.policy_view import no_static
from celadon.apiserver.object_store import ObjectStore, StoredObject, collection_prefix
from celadon.apiserver.workers import on_loop
from celadon.kube import GroupVersionResource
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class StoredWebhooks:
    """What a set of hooks is made of. One object for as long as all is the same."""

    objects: tuple[StoredObject, ...]
    static: StaticObjects


class WebhookView:
    """The webhooks of one type; `version` is the release whose CEL their conditions are in,
    `static` gives those of files, the same object for as long as they are the same. Its hooks are
    kept with what they were made of, as the engines of `policy_view` are."""

    def __init__(
        self,
        objects: ObjectStore,
        version: str,
        *,
        mutating: bool,
        static: Callable[[], StaticObjects] = no_static,
    ) -> None:
        kind = "mutating" if mutating else "validating"
        resource = known_resources().by_gvr(
            GroupVersionResource(ADMISSION_REGISTRATION, "v1", f"{kind}webhookconfigurations")
        )
        assert resource is not None
        self._mutating = mutating
        self._mirror = Mirror(objects, collection_prefix(resource))
        self._static = static
        self._stored = StoredWebhooks(tuple(self._mirror), NOTHING)
        self._decoded: dict[int, WebhookConfiguration | None] = {}
        self._made = self._stored, self._with_objects(HookSet(version=version), self._stored)

    @on_loop
    def rules(self) -> StoredWebhooks:
        """Another object when webhooks have changed. Nothing is compiled for it."""
        changed, static = self._mirror.refresh(), self._static()
        if changed or static is not self._stored.static:
            objects = tuple(self._mirror) if changed else self._stored.objects
            self._stored = StoredWebhooks(objects, static)
        return self._stored

    def hooks(self, rules: StoredWebhooks) -> HookSet:
        """All that `rules` has told of, in whatever thread."""
        made_for, hooks = self._made
        if made_for is not rules:
            if made_for.objects is not rules.objects:
                hooks = self._with_objects(hooks, rules)
            if made_for.static is not rules.static:
                hooks = hooks.with_static(rules.static.of(WebhookConfiguration))
            self._made = rules, hooks
        return hooks

    def _with_objects(self, hooks: HookSet, rules: StoredWebhooks) -> HookSet:
        known = self._decoded
        decoded = {one.revision: self._configuration(one, known) for one in rules.objects}
        self._decoded = decoded
        return hooks.replaced([one for one in decoded.values() if one is not None])

    def _configuration(
        self, stored: StoredObject, known: Mapping[int, WebhookConfiguration | None]
    ) -> WebhookConfiguration | None:
        """The same object as before for what has not changed, so that it is not compiled again."""
        if stored.revision in known:
            return known[stored.revision]
        try:
            return decode_webhooks(stored.object, mutating=self._mutating).value
        except RegistrationError:
            return None
