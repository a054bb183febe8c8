"""The files of static policies and webhooks that an AdmissionConfiguration names.

`--admission-control-config-file` of kube-apiserver: `static_files` heeds the folders of static
manifests, `told_plugins` all else. A folder that a server could not load is a reason not to go on.
What is read from these files plays its part by its names, as if it were given with `-f`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.configuration import BadConfiguration, plugin_settings
from celadon.admission.static import STATIC_PLUGINS, ManifestError, StaticDocument, load
from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.kube.go import Document as GoDocument
from celadon.kube.go import quote


def static_files(path: str, version: str) -> list[str]:
    """The files in all folders. Raises ValueError, whose text is upstream's where upstream has
    one."""
    settings = told_plugins(path)
    found = []
    for name, folder in settings.static_folders.items():
        files = _files(folder)
        plugin = STATIC_PLUGINS[name]
        try:
            load((one for file in files for one in _documents(file)), plugin, version)
        except ManifestError as error:
            what = f"failed to load static {plugin.what} manifests"
            raise ManifestError(f"{what} from {quote(folder)}: {error}") from None
        found += files
    return found


def told_plugins(path: str) -> PluginSettings:
    """Return what the file tells all plugins. Raises ValueError."""
    document = _only(path)
    try:
        return plugin_settings(
            document,
            lambda named: _only(str(Path(path).parent / named)),
            lambda folder: "" if os.path.isdir(folder) else "must be a directory",
            gated=True,
        )
    except BadConfiguration as error:
        raise BadConfiguration(f"`{path}`: {error}") from None


def _only(path: str) -> object:
    """The one document in a file."""
    first = next(_read(path), None)
    return None if first is None else first.value


def _files(folder: str) -> list[str]:
    found = (one for one in Path(folder).iterdir() if one.suffix.lower() in sources.EXTENSIONS)
    return [str(one) for one in sorted(found) if one.is_file()]


def _documents(file: str) -> Iterator[StaticDocument]:
    for one in _read(file):
        yield StaticDocument(file, GoDocument(one.value))


def _read(file: str) -> Iterator[Document]:
    text = sources.read(file)
    for one in [text] if isinstance(text, Problem) else DocumentReader().read(text):
        if isinstance(one, Problem):
            raise ManifestError(one.text())
        yield one
