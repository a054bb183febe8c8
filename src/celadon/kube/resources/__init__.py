"""The resources a server knows (scope, verbs, kinds, subresources, printer columns), and objects
indexed by them."""

from celadon.kube.resources.api_resources import (
    ESTABLISHED,
    ApiGroup,
    Catalog,
    Column,
    Lookups,
    ObjectIndex,
    Resource,
    Subresource,
    api_groups,
    columns_of,
    custom_resources,
    every_description,
    guess_resource,
    guessed_resource,
    human_duration,
    is_established,
    known_resources,
    scale_columns,
)
from celadon.kube.resources.api_resources import UNKNOWN as UNKNOWN_AGE
from celadon.kube.resources.deprecated_kinds import deprecation_of
from celadon.kube.resources.feature_gates import gates_of, is_gate_on, said_gates
from celadon.kube.resources.plugin_facts import (
    DEFAULT_PLUGINS,
    PLUGIN_ORDER,
    PLUGINS,
    UnusablePlugins,
    default_plugins,
    enabled_plugins,
    known_plugins,
)

__all__ = [
    "DEFAULT_PLUGINS",
    "ESTABLISHED",
    "PLUGINS",
    "PLUGIN_ORDER",
    "UNKNOWN_AGE",
    "ApiGroup",
    "Catalog",
    "Column",
    "Lookups",
    "ObjectIndex",
    "Resource",
    "Subresource",
    "UnusablePlugins",
    "api_groups",
    "columns_of",
    "custom_resources",
    "default_plugins",
    "deprecation_of",
    "enabled_plugins",
    "every_description",
    "gates_of",
    "guess_resource",
    "guessed_resource",
    "human_duration",
    "is_established",
    "is_gate_on",
    "known_plugins",
    "known_resources",
    "said_gates",
    "scale_columns",
]
