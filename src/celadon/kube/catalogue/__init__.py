"""The resources a server knows (scope, verbs, kinds, subresources, printer columns), and objects
indexed by them."""

from celadon.kube.catalogue.ages import UNKNOWN as UNKNOWN_AGE
from celadon.kube.catalogue.ages import human_duration
from celadon.kube.catalogue.deprecated_kinds import DEPRECATED
from celadon.kube.catalogue.lookups import Lookups, ObjectIndex
from celadon.kube.catalogue.plugin_facts import (
    DEFAULT_PLUGINS,
    PLUGIN_ORDER,
    PLUGINS,
    UnusablePlugins,
    enabled_plugins,
)
from celadon.kube.catalogue.printer_columns import (
    Column,
    columns_of,
    every_description,
    scale_columns,
)
from celadon.kube.catalogue.resources import (
    ESTABLISHED,
    ApiGroup,
    Catalog,
    Resource,
    Subresource,
    api_groups,
    custom_resources,
    guess_resource,
    guessed_resource,
    is_established,
    known_resources,
)

__all__ = [
    "DEFAULT_PLUGINS",
    "DEPRECATED",
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
    "enabled_plugins",
    "every_description",
    "guess_resource",
    "guessed_resource",
    "human_duration",
    "is_established",
    "known_resources",
    "scale_columns",
]
