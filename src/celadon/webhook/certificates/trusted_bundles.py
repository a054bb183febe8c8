"""The `caBundle` of webhook configurations, kept right.

Each configuration of a given name, validating and mutating, is watched; where one of its hooks has
another bundle than it should, that alone is patched, on the version that was seen. Whoever replaces
the configuration, a deployment tool for instance, has it put right again at once.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import JSON_PATCH
from celadon.serve.operation import LIFE, say, warn
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
        self._collections = tuple(
            WatchedCollection(
                client,
                Watched(
                    [f"{REGISTRATION}/{kind}"],
                    {"fieldSelector": f"metadata.name={name}"},
                    WATCH_SECONDS,
                ),
                changed,
                time.monotonic,
            )
            for name in names
            for kind in KINDS
        )

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

    async def put(self, bundle: bytes) -> None:
        """Wherever there is another one."""
        for path, patch in list(self._wrong(bundle)):
            try:
                await self._client.patch(path, patch, JSON_PATCH)
                say(LIFE, "the caBundle of a configuration was put right", {"path": path})
            except ClusterError as error:
                warn("the caBundle of a configuration is wrong", {"path": path, "err": str(error)})

    def _wrong(self, bundle: bytes) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        wanted = base64.b64encode(bundle).decode()
        for collection in self._collections:
            for configuration in collection:
                patch = bundle_patch(configuration, wanted)
                if patch:
                    path = f"{collection.watched.paths[0]}/{metadata.name(configuration)}"
                    yield path, patch


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
