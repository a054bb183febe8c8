"""Defaulting: what an object looks like when admission sees it.

A server does a lot to an object between its arrival and the moment a policy looks at it. Read
`write_stages` for the order, `defaulting_rules` for how the rules of the data pack become
functions, `field_functions`, `pod_defaults`, `service_defaults`, `workload_defaults` and
`mutating_plugins` for what cannot be said in a rule, `defaulting_context` for what the caller
decides.
"""

from celadon.kube.defaulting.defaulting_context import (
    DEFAULT_PLUGINS,
    DefaultingContext,
    ServiceNetwork,
    service_ca_source,
)
from celadon.kube.defaulting.mutating_plugins import LIMIT_RANGES, LOOKED_UP
from celadon.kube.defaulting.write_stages import (
    Draft,
    admit_form,
    begin_create,
    defaulted,
    drafted,
    finish_create,
    finish_update,
    run_plugins,
    stored_form,
    updated_form,
)

__all__ = [
    "DEFAULT_PLUGINS",
    "LIMIT_RANGES",
    "LOOKED_UP",
    "DefaultingContext",
    "Draft",
    "ServiceNetwork",
    "admit_form",
    "begin_create",
    "defaulted",
    "drafted",
    "finish_create",
    "finish_update",
    "run_plugins",
    "service_ca_source",
    "stored_form",
    "updated_form",
]
