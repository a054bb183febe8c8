"""The static objects of one plugin: loaded at the start, and again when the files are others.

A version that cannot be used leaves the one before in force, and is counted and logged each time
somebody looks. As k8s.io/apiserver `pkg/admission/plugin/{policy,webhook}/manifest/source`; a file
system that tells of changes is not asked, files are looked at every few seconds instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from celadon.admission.static import (
    ManifestError,
    StaticObjects,
    StaticPlugin,
    load,
)
from celadon.kube.go import quote
from celadon.serve.operation.log_lines import LIFE, say, warn
from celadon.serve.operation.static_reloads import StaticReloads
from celadon.serve.static_admission.manifest_folder import Signature, folder_signature, read_folder

POLL_SECONDS: Final = 60.0
"""After so long the files are read, whether or not they look changed."""


class StaticSource:
    """`objects` is what is in force: another one after each reload. `clock` only ever grows."""

    def __init__(
        self,
        plugin: StaticPlugin,
        folder: str,
        version: str,
        reloads: StaticReloads,
        clock: Callable[[], float],
    ) -> None:
        self.objects = StaticObjects()
        self._plugin = plugin
        self._folder = folder
        self._version = version
        self._reloads = reloads
        self._clock = clock
        self._signature: Signature = ()
        self._looked = 0.0
        self._hash = ""

    def load(self) -> None:
        """For the first time. Raises ManifestError."""
        self._note_look(folder_signature(self._folder))
        try:
            found, hash = self._read()
        except ManifestError as error:
            what = f"failed to load static {self._plugin.what} manifests"
            raise ManifestError(f"{what} from {quote(self._folder)}: {error}") from None
        self._take(found, hash)

    async def look(self) -> None:
        """Take in what has changed, if anything has. Never raises for what is in the files."""
        signature = await asyncio.to_thread(folder_signature, self._folder)
        if signature == self._signature and self._clock() - self._looked < POLL_SECONDS:
            return
        self._note_look(signature)
        about = {"plugin": self._plugin.name, "dir": self._folder}
        try:
            found, hash = await asyncio.to_thread(self._read)
        except ManifestError as error:
            self._reloads.failed(self._plugin.name)
            warn("reloading manifest config", {**about, "err": str(error)})
            return
        if hash != self._hash:
            self._take(found, hash)
            say(LIFE, "reloaded manifest config", about)

    def _note_look(self, signature: Signature) -> None:
        self._signature, self._looked = signature, self._clock()

    def _read(self) -> tuple[StaticObjects, str]:
        folder = read_folder(self._folder)
        return load(folder.documents(), self._plugin, self._version), folder.hash

    def _take(self, found: StaticObjects, hash: str) -> None:
        self.objects, self._hash = found, hash
        self._reloads.loaded(self._plugin.name, hash)
