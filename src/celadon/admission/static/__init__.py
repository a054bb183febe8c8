"""Policies and webhooks from files of the API server itself (KEP-5793, alpha in 1.36).

Read `static_manifests` (what holds for them beyond validation), then `static_loading` (documents to
the objects of a plugin). Engines take them with `with_static`.
"""

from celadon.admission.registration.reserved_names import GATE, STATIC_SUFFIX
from celadon.admission.static.static_loading import (
    NOTHING,
    STATIC_PLUGINS,
    ManifestError,
    StaticDocument,
    StaticObjects,
    StaticPlugin,
    load,
)
from celadon.admission.static.static_manifests import is_static, static_errors

__all__ = [
    "GATE",
    "NOTHING",
    "STATIC_PLUGINS",
    "STATIC_SUFFIX",
    "ManifestError",
    "StaticDocument",
    "StaticObjects",
    "StaticPlugin",
    "is_static",
    "load",
    "static_errors",
]
