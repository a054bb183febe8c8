"""The webhook configurations in the store, as sets of hooks that know whom they concern; with them
static ones, from files of the server.

A configuration is decoded and compiled once, when the first request comes after it was written. One
that cannot be decoded (it was stored by another release) takes no part.
"""

from __future__ import annotations

from collections.abc import Callable

from celadon.admission.registration import RegistrationError, WebhookConfiguration, decode_webhooks
from celadon.admission.static import NOTHING, StaticObjects
from celadon.admission.webhooks import HookSet
from celadon.apiserver.caches.mirror import Mirror
from celadon.apiserver.caches.policy_view import no_static
from celadon.apiserver.object_store import ObjectStore, StoredObject, collection_prefix
from celadon.kube import GroupVersionResource
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION


class WebhookView:
    """The webhooks of one type; `version` is the release whose CEL their conditions are in,
    `static` gives those of files, the same object for as long as they are the same."""

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
        self._decoded: dict[int, WebhookConfiguration | None] = {}
        self._hooks = HookSet(version=version)
        self._static = static
        self._seen_static = NOTHING
        self._update()

    def hooks(self) -> HookSet:
        """All there are now."""
        if self._mirror.refresh():
            self._update()
        static = self._static()
        if static is not self._seen_static:
            self._seen_static = static
            self._hooks = self._hooks.with_static(static.of(WebhookConfiguration))
        return self._hooks

    def _update(self) -> None:
        self._decoded = {one.revision: self._configuration(one) for one in self._mirror}
        found = [one for one in self._decoded.values() if one is not None]
        self._hooks = self._hooks.replaced(found)

    def _configuration(self, stored: StoredObject) -> WebhookConfiguration | None:
        """The same object as before for what has not changed, so that it is not compiled again."""
        if stored.revision in self._decoded:
            return self._decoded[stored.revision]
        try:
            return decode_webhooks(stored.object, mutating=self._mutating).value
        except RegistrationError:
            return None
