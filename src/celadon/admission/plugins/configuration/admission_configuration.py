"""AdmissionConfiguration: which part of a file, or which other file, is for which plugin.

As k8s.io/apiserver `pkg/admission/config.go`: a plugin's part stands in its entry or in a file that
the entry names; of several entries for a plugin the first counts, and plugins that nothing can be
told to are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from celadon.admission.plugins.configuration.configuration_errors import (
    BadConfiguration,
    objects_in,
    require_kind,
)
from celadon.admission.plugins.configuration.event_configuration import event_limits
from celadon.admission.plugins.configuration.folder_configuration import (
    FolderProblem,
    check_folder,
    mutating_folder,
    validating_folder,
)
from celadon.admission.plugins.configuration.image_configuration import image_policy
from celadon.admission.plugins.configuration.quota_configuration import limited_resources
from celadon.admission.plugins.configuration.security_configuration import security_settings
from celadon.admission.plugins.configuration.webhook_configuration import webhook_settings
from celadon.admission.plugins.plugin_settings import EVENT_RATE_LIMIT, IMAGE_POLICY, PluginSettings
from celadon.kube import JsonObject

VERSIONS: Final = ("apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1")

_READERS: Final[Mapping[str, tuple[str, Callable[[object], Any]]]] = {
    "PodSecurity": ("security", security_settings),
    "ResourceQuota": ("limited_resources", limited_resources),
    EVENT_RATE_LIMIT: ("event_limits", event_limits),
    IMAGE_POLICY: ("image_policy", image_policy),
    "MutatingAdmissionPolicy": ("mutating_policies", mutating_folder),
    "MutatingAdmissionWebhook": ("mutating_webhooks", webhook_settings),
    "ValidatingAdmissionPolicy": ("validating_policies", validating_folder),
    "ValidatingAdmissionWebhook": ("validating_webhooks", webhook_settings),
}
"""By the names of plugins: the field of PluginSettings, and what makes it of a document."""


def plugin_settings(
    document: object,
    read: Callable[[str], object],
    folder_problem: FolderProblem = lambda _: "",
    *,
    gated: bool = False,
) -> PluginSettings:
    """`read` gives the document in a file that is named in this one; `gated` is whether there may
    be folders of static manifests. Raises BadConfiguration, and what `read` raises."""
    given = require_kind(document, "AdmissionConfiguration", VERSIONS)
    found: dict[str, Any] = {}
    for entry in objects_in(given, "plugins"):
        name = str(entry.get("name"))
        if name not in _READERS or _READERS[name][0] in found:
            continue
        field, reader = _READERS[name]
        with _configuration_of(name):
            found[field] = reader(_part(entry, read))
    settings = PluginSettings(**found)
    for name, folder in settings.static_folders.items():
        with _configuration_of(name):
            check_folder(folder, gated=gated, problem=folder_problem)
    return settings


@contextmanager
def _configuration_of(name: str) -> Iterator[None]:
    """Says which one is bad."""
    try:
        yield
    except BadConfiguration as error:
        raise BadConfiguration(f"configuration of {name}: {error}") from None


def _part(entry: JsonObject, read: Callable[[str], object]) -> object:
    path = entry.get("path")
    if isinstance(path, str) and path:
        return read(path)
    return entry.get("configuration")
