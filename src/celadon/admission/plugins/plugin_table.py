"""Which plugin behaves how: the one place where names meet functions.

The order, and which plugins are on, is told in `celadon.kube.catalogue.PLUGINS`. Plugins that are
missing here only change objects, by rules in `celadon.kube.defaulting`, do nothing without a
feature gate that is off, or are the server's own affair (policies, webhooks, ResourceQuota).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.admission.plugins.always_plugins import ALWAYS_DENY
from celadon.admission.plugins.certificate_plugins import APPROVAL, ATTESTING, SIGNING, SUBJECTS
from celadon.admission.plugins.claims_and_services import CLAIM_RESIZING, EXTERNAL_ADDRESSES
from celadon.admission.plugins.namespace_plugins import EXISTS, LIFECYCLE
from celadon.admission.plugins.node_restriction import NODE_RESTRICTION
from celadon.admission.plugins.owner_permissions import OWNER_PERMISSIONS
from celadon.admission.plugins.plugin_answers import Behaviour
from celadon.admission.plugins.plugin_settings import PluginSettings
from celadon.admission.plugins.pod_plugins.account_checks import SERVICE_ACCOUNT
from celadon.admission.plugins.pod_plugins.image_pulling import IMAGE_PULLING
from celadon.admission.plugins.pod_plugins.limit_ranges import LIMIT_RANGER
from celadon.admission.plugins.pod_plugins.node_selection import (
    ANTI_AFFINITY,
    NODE_SELECTORS,
    TOPOLOGY,
)
from celadon.admission.plugins.pod_plugins.pod_resizing import POD_RESIZING
from celadon.admission.plugins.pod_plugins.priority_checks import PRIORITY, PRIORITY_CLASS
from celadon.admission.plugins.pod_plugins.runtime_checks import RUNTIME_CLASS
from celadon.admission.plugins.pod_plugins.toleration_limits import (
    DEFAULT_TOLERATIONS,
    RESOURCE_TOLERATION,
    TOLERATION_RESTRICTION,
)
from celadon.admission.plugins.pod_security.security_plugin import pod_security

Behaviours = Mapping[str, tuple[Behaviour, ...]]

_OF_EVERY_RELEASE: Final[Behaviours] = {
    "AlwaysDeny": (ALWAYS_DENY,),
    "AlwaysPullImages": (IMAGE_PULLING,),
    "CertificateApproval": (APPROVAL,),
    "CertificateSigning": (SIGNING,),
    "CertificateSubjectRestriction": (SUBJECTS,),
    "ClusterTrustBundleAttest": (ATTESTING,),
    "DefaultTolerationSeconds": (DEFAULT_TOLERATIONS,),
    "DenyServiceExternalIPs": (EXTERNAL_ADDRESSES,),
    "ExtendedResourceToleration": (RESOURCE_TOLERATION,),
    "LimitPodHardAntiAffinityTopology": (ANTI_AFFINITY,),
    "LimitRanger": (LIMIT_RANGER,),
    "NamespaceExists": (EXISTS,),
    "NamespaceLifecycle": (LIFECYCLE,),
    "NodeRestriction": (NODE_RESTRICTION,),
    "OwnerReferencesPermissionEnforcement": (OWNER_PERMISSIONS,),
    "PersistentVolumeClaimResize": (CLAIM_RESIZING,),
    "PodNodeSelector": (NODE_SELECTORS,),
    "PodResizeValidator": (POD_RESIZING,),
    "PodTolerationRestriction": (TOLERATION_RESTRICTION,),
    "PodTopologyLabels": (TOPOLOGY,),
    "Priority": (PRIORITY, PRIORITY_CLASS),
    "RuntimeClass": (RUNTIME_CLASS,),
    "ServiceAccount": (SERVICE_ACCOUNT,),
}


def behaviours(release: str, settings: PluginSettings) -> Behaviours:
    """By the names of plugins, as they are in a release: `1.36`."""
    minor = int(release.rpartition(".")[2])
    return {**_OF_EVERY_RELEASE, "PodSecurity": pod_security(minor, settings.security)}
