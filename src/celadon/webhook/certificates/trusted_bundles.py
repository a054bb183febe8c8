"""The `caBundle` of webhook configurations, kept right.

Each configuration of a given name, validating and mutating, is watched; where one of its hooks has
another bundle than it should, that alone is patched, on the version that was seen. Whoever replaces
the configuration, a deployment tool for instance, has it put right again at once. A name that no
configuration has may be a mistake, or the configuration is still to come: `remarks` tells of it.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import JSON_PATCH
from celadon.serve.operation import LIFE, say
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterError
from celadon.webhook.cluster.watched_collection import Watched, WatchedCollection

REGISTRATION: Final = "/apis/admissionregistration.k8s.io/v1"
KINDS: Final = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
WATCH_SECONDS: Final = 300.0


class TrustedBundles:
    """Of the configurations with these names. `changed` is called when one of them has changed."""

    def __init__(
        self, client: ClusterClient, names: Iterable[str], changed: Callable[[], None]
    ) -> None:
        self._client = client
        self._changed = changed
        self._named = {name: tuple(self._watched(kind, name) for kind in KINDS) for name in names}
        self._refused: dict[str, str] = {}

    def _watched(self, kind: str, name: str) -> WatchedCollection:
        only = {"fieldSelector": f"metadata.name={name}"}
        watched = Watched([f"{REGISTRATION}/{kind}"], only, WATCH_SECONDS)
        return WatchedCollection(self._client, watched, self._changed, time.monotonic)

    @property
    def _collections(self) -> Iterator[WatchedCollection]:
        for both in self._named.values():
            yield from both

    async def run(self) -> None:
        """Follow the configurations, until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            for one in self._collections:
                group.create_task(one.run())

    def are(self, bundle: bytes) -> bool:
        """Whether all hooks are known to have it. Configurations that are not there yet need
        nothing."""
        return all(one.is_synced for one in self._collections) and not any(
            True for _ in self._wrong(bundle)
        )

    def trusting(self, bundle: bytes) -> Mapping[str, bool]:
        """By name: whether there is a configuration, and all of its hooks have the bundle."""
        wanted = base64.b64encode(bundle).decode()
        return {name: _all_trust(both, wanted) for name, both in self._named.items()}

    def remarks(self) -> Iterator[str]:
        """Why some bundle is not kept, where somebody has to do something about it."""
        for name, both in self._named.items():
            failures = [one.failure for one in both if not one.is_synced and one.failure]
            if failures:
                yield f"the webhook configuration `{name}` cannot be read: {failures[0]}"
            elif all(one.is_synced for one in both) and not any(True for one in both for _ in one):
                yield f"there is no webhook configuration `{name}`"
        for path, failure in self._refused.items():
            yield f"the caBundle of `{path}` cannot be written: {failure}"

    async def put(self, bundle: bytes) -> None:
        """Wherever there is another one."""
        wrong = list(self._wrong(bundle))
        self._refused = {path: self._refused[path] for path, _ in wrong if path in self._refused}
        for path, patch in wrong:
            try:
                await self._client.patch(path, patch, JSON_PATCH)
                say(LIFE, "the caBundle of a configuration was put right", {"path": path})
            except ClusterError as error:
                self._refused[path] = str(error)
            else:
                self._refused.pop(path, None)

    def _wrong(self, bundle: bytes) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        wanted = base64.b64encode(bundle).decode()
        for collection in self._collections:
            for configuration in collection:
                patch = bundle_patch(configuration, wanted)
                if patch:
                    path = f"{collection.watched.paths[0]}/{metadata.name(configuration)}"
                    yield path, patch


def _all_trust(collections: Iterable[WatchedCollection], wanted: str) -> bool:
    found = [one for collection in collections for one in collection]
    return bool(found) and not any(bundle_patch(one, wanted) for one in found)


def bundle_patch(configuration: JsonObject, wanted: str) -> list[dict[str, Any]]:
    """What puts all hooks right; empty if they are. `wanted` is base64."""
    changes = [
        {"op": "add", "path": f"/webhooks/{at}/clientConfig/caBundle", "value": wanted}
        for at, hook in enumerate(configuration.get("webhooks") or ())
        if (hook.get("clientConfig") or {}).get("caBundle") != wanted
    ]
    if not changes:
        return []
    revision = metadata.metadata(configuration).get("resourceVersion")
    return [{"op": "test", "path": "/metadata/resourceVersion", "value": revision}, *changes]
