"""The built-in admission plugins: what an API server refuses, and changes, before any policy.

`plugin_chain` names them all. Whoever knows a plugin by its name finds a module of that name, or
`pod_plugins`, `certificate_plugins` and `deny_resize_and_owners`, whose first lines name theirs. As
k8s.io/kubernetes `plugin/pkg/admission` and k8s.io/apiserver `pkg/admission/plugin`.
"""

from celadon.admission.plugins.limit_ranger import within_limits
from celadon.admission.plugins.namespace_lifecycle import is_terminating
from celadon.admission.plugins.plugin_chain import (
    EVENT_RATE_LIMIT,
    IMAGE_POLICY,
    POD_SECURITY,
    RESOURCE_QUOTA,
    EventLimit,
    ImagePolicySettings,
    PluginChain,
    PluginSettings,
    Stands,
)
from celadon.admission.plugins.plugin_interface import Opinion, forbidden
from celadon.admission.plugins.pod_plugins import (
    ImageVerdict,
    config_map_names,
    image_opinion,
    image_review,
    secret_names,
    unanswered_opinion,
)
from celadon.admission.plugins.pod_security_standards import PREFIX as SECURITY_LABELS
from celadon.admission.plugins.resource_quota import (
    Charge,
    Fit,
    LimitedResource,
    attributes_classes,
    counts_differ,
    fit,
    given_back,
    is_counted,
    recounted,
)

__all__ = [
    "EVENT_RATE_LIMIT",
    "IMAGE_POLICY",
    "POD_SECURITY",
    "RESOURCE_QUOTA",
    "SECURITY_LABELS",
    "Charge",
    "EventLimit",
    "Fit",
    "ImagePolicySettings",
    "ImageVerdict",
    "LimitedResource",
    "Opinion",
    "PluginChain",
    "PluginSettings",
    "Stands",
    "attributes_classes",
    "config_map_names",
    "counts_differ",
    "fit",
    "forbidden",
    "given_back",
    "image_opinion",
    "image_review",
    "is_counted",
    "is_terminating",
    "recounted",
    "secret_names",
    "unanswered_opinion",
    "within_limits",
]
