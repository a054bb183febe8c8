"""Putting a webhook into a cluster: what its API server has to send it, and everything it is made
of there.

Read `policy_coverage` (from policies to rules and selectors), then `policy_configuration`,
`workload_manifests` and `access_manifests`; `chart_values` is for the Helm chart of the same.
"""

from celadon.webhook.installation.access_manifests import access_manifests
from celadon.webhook.installation.chart_values import chart_values
from celadon.webhook.installation.installation_settings import Certificates, InstallationSettings
from celadon.webhook.installation.policy_configuration import (
    EVERYTHING,
    policy_configuration,
)
from celadon.webhook.installation.policy_coverage import Coverage, coverages
from celadon.webhook.installation.workload_manifests import (
    namespace_manifests,
    workload_manifests,
)

__all__ = [
    "EVERYTHING",
    "Certificates",
    "Coverage",
    "InstallationSettings",
    "access_manifests",
    "chart_values",
    "coverages",
    "namespace_manifests",
    "policy_configuration",
    "workload_manifests",
]
