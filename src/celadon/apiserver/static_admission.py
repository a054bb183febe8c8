"""Policies and webhooks from files of the server (`staticManifestsDir`), kept current.

A folder of manifests is read, all folders of a server are read again when they change, and each
plugin has the objects of its own folder as one source.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from celadon import private_files
from celadon.admission.static_manifests import (
    NOTHING,
    STATIC_PLUGINS,
    ManifestError,
    StaticDocument,
    StaticObjects,
    StaticPlugin,
    load,
)
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.log_lines import LIFE, say, warn
from celadon.apiserver.operation.webhook_counts import StaticReloads
from celadon.kube.go import Document, JsonSyntaxError, quote, read_json
from celadon.records import dataclass

# --- Manifest folder ---------------------------------------------------------
#
# The files of a folder as documents, and a hash that tells one version of them from the next.
#
# As k8s.io/apiserver `pkg/admission/plugin/manifest/loader.go`: not below sub-folders, by name,
# empty files passed over; what is not a document yet is found out when somebody asks for it.

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})

Signature = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class ManifestFolder:
    """Holds what is in a folder: the texts of documents with their files. `hash` is empty for
    nothing at all."""

    texts: tuple[tuple[str, bytes], ...]
    hash: str

    def documents(self) -> Iterator[StaticDocument]:
        """Yield the documents. Raises ManifestError for the first that cannot be read."""
        for file, text in self.texts:
            yield _document(file, text)


def read_folder(folder: str) -> ManifestFolder:
    """Read the files of a folder. Raises ManifestError."""
    from celadon.goyaml import SeparatorError, yaml_parts  # late: many servers read no YAML

    digest = hashlib.sha256()
    texts: list[tuple[str, bytes]] = []
    is_empty = True
    for path in _files(folder):
        data = _content(path)
        if not data:
            continue
        is_empty = False
        digest.update(data + b"\0")
        try:
            texts += [(str(path), part) for part in yaml_parts(data)]
        except SeparatorError as error:
            where = f"failed to split YAML documents in file {quote(str(path))}"
            raise ManifestError(f"{where}: {error}") from None
    return ManifestFolder(tuple(texts), "" if is_empty else f"sha256:{digest.hexdigest()}")


def folder_signature(folder: str) -> Signature:
    """Return what is another value when a file is another one: by name, time, size and place on the
    disk. It is empty for what cannot be looked at."""
    try:
        return tuple(
            (path.name, item.st_mtime_ns, item.st_size, item.st_ino)
            for path in _files(folder)
            for item in (path.stat(),)
        )
    except (ManifestError, OSError):
        return ()


def _files(folder: str) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        reason = f"failed to read manifest directory {quote(folder)}: open {folder}: {_why(error)}"
        raise ManifestError(reason) from None
    paths = (Path(folder, name) for name in sorted(names, key=os.fsencode))
    return [path for path in paths if os.path.splitext(path.name)[1].lower() in SUFFIXES]


def _content(path: Path) -> bytes:
    try:
        return private_files.content(path)
    except OSError as error:
        subject = "read" if isinstance(error, IsADirectoryError) else "open"
        reason = f"failed to read file {quote(str(path))}: {subject} {path}: {_why(error)}"
        raise ManifestError(reason) from None


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _document(file: str, data: bytes) -> StaticDocument:
    from celadon.goyaml import UnreadableError, first_document  # late: as above

    text = data.decode("utf-8", "replace")
    try:
        if data.startswith(b"{"):
            return StaticDocument(file, read_json(text, merge=True), text)
        document = first_document(data)
    except JsonSyntaxError as error:
        reason = f"couldn't get version/kind; json parse error: {error}"
        raise ManifestError(f"error loading {file}: {reason}") from None
    except UnreadableError as error:
        raise ManifestError(f"error loading {file}: {error.upstream}") from None
    complaint = document.strict_error()
    return StaticDocument(file, Document(document.value), text, (complaint,) if complaint else ())


# --- Sources -----------------------------------------------------------------
#
# The static objects of one plugin: loaded at the start, and again when the files are others.
#
# A version that cannot be used leaves the one before in force, and is counted and logged each time
# somebody looks. As k8s.io/apiserver `pkg/admission/plugin/{policy,webhook}/manifest/source`; a
# file system that tells of changes is not asked, files are looked at every few seconds instead.

POLL_SECONDS: Final = 60.0
"""After so long the files are read, whether or not they look changed."""


class StaticSource:
    """Reads static manifests anew when they change. `objects` is what is in force: another one
    after each reload. `clock` only ever grows."""

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
        """Load the objects for the first time. Raises ManifestError."""
        self._note_look(folder_signature(self._folder))
        try:
            objects, hash = self._read()
        except ManifestError as error:
            subject = f"failed to load static {self._plugin.content} manifests"
            raise ManifestError(f"{subject} from {quote(self._folder)}: {error}") from None
        self._take(objects, hash)

    async def look(self) -> None:
        """Take in what has changed, if anything has. Never raises for what is in the files."""
        signature = await asyncio.to_thread(folder_signature, self._folder)
        if signature == self._signature and self._clock() - self._looked < POLL_SECONDS:
            return
        self._note_look(signature)
        about = {"plugin": self._plugin.name, "dir": self._folder}
        try:
            objects, hash = await asyncio.to_thread(self._read)
        except ManifestError as error:
            self._reloads.failed(self._plugin.name)
            warn("reloading manifest config", {**about, "err": str(error)})
            return
        if hash != self._hash:
            self._take(objects, hash)
            say(LIFE, "reloaded manifest config", about)

    def _note_look(self, signature: Signature) -> None:
        self._signature, self._looked = signature, self._clock()

    def _read(self) -> tuple[StaticObjects, str]:
        folder = read_folder(self._folder)
        return load(folder.documents(), self._plugin, self._version), folder.hash

    def _take(self, objects: StaticObjects, hash: str) -> None:
        self.objects, self._hash = objects, hash
        self._reloads.loaded(self._plugin.name, hash)


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
        enabled = {name: folder for name, folder in folders.items() if name in settings.plugins}
        self._sources = {
            name: StaticSource(STATIC_PLUGINS[name], folder, settings.version, reloads, clock)
            for name, folder in enabled.items()
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
