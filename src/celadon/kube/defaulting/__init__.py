"""Defaulting: the rules by which a server changes an object before admission sees it.

In which order a write goes through them stands in `celadon.kube.registry`. Read `defaulting_rules`
for how the rules of the data pack become functions, `field_functions`, `workload_defaults` and
`plugin_defaults` for what cannot be said in a rule, `defaulting_context` for what the caller
decides.
"""

from celadon.kube.defaulting.defaulting_context import (
    ALLOCATED_PORT,
    DefaultingContext,
    ServiceNetwork,
    always_set,
    service_ca_source,
)
from celadon.kube.defaulting.defaulting_rules import gated_fields
from celadon.kube.defaulting.field_functions import covers, merged
from celadon.kube.defaulting.plugin_defaults import (
    LIMIT_RANGES,
    LOOKED_UP,
    PRIORITY_CLASSES,
    RUNTIME_CLASSES,
    STORAGE_CLASSES,
    TOPOLOGY_LABELS,
    default_priority_class,
)
from celadon.kube.json_types import fresh
from celadon.kube.schemas.struct_decoding import with_empty_values
from celadon.kube.well_known_values import MIRROR_POD, SYSTEM_PRIORITIES

__all__ = [
    "ALLOCATED_PORT",
    "LIMIT_RANGES",
    "LOOKED_UP",
    "MIRROR_POD",
    "PRIORITY_CLASSES",
    "RUNTIME_CLASSES",
    "STORAGE_CLASSES",
    "SYSTEM_PRIORITIES",
    "TOPOLOGY_LABELS",
    "DefaultingContext",
    "ServiceNetwork",
    "always_set",
    "covers",
    "default_priority_class",
    "fresh",
    "gated_fields",
    "merged",
    "service_ca_source",
    "with_empty_values",
]
