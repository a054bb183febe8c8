"""Policies and webhooks from files of the server (`staticManifestsDir`), kept current.

A folder of manifests is read, all folders of a server are read again when they change, and each
plugin has the objects of its own folder as one source.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from celadon.admission.static import NOTHING, STATIC_PLUGINS, StaticObjects
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.webhook_counts import StaticReloads

if TYPE_CHECKING:
    from celadon.apiserver.static_source import StaticSource


# --- Static files ------------------------------------------------------------
#
# All folders of static objects that a server has: one source for each plugin.


class StaticFiles:
    """Holds the static objects of the plugins that are on. `clock` only ever grows."""

    def __init__(
        self,
        settings: Settings,
        reloads: StaticReloads,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        folders = settings.plugin_settings.static_folders
        asked = {name: folder for name, folder in folders.items() if name in settings.plugins}
        self._sources: dict[str, StaticSource] = {}
        if asked:
            # late: few servers have such files, and YAML takes long to load
            from celadon.apiserver.static_source import StaticSource

            self._sources = {
                name: StaticSource(STATIC_PLUGINS[name], folder, settings.version, reloads, clock)
                for name, folder in asked.items()
            }

    def load(self) -> None:
        """Load all folders at the start. Raises ManifestError."""
        for source in self._sources.values():
            source.load()

    async def look(self) -> None:
        """Look at all folders, and take in what has changed."""
        for source in self._sources.values():
            await source.look()

    def objects(self) -> tuple[StaticObjects, ...]:
        """Return what is in force for all plugins."""
        return tuple([source.objects for source in self._sources.values()])

    def of(self, plugin: str) -> StaticObjects:
        """Return what is in force; the same object until it is another."""
        source = self._sources.get(plugin)
        return NOTHING if source is None else source.objects
