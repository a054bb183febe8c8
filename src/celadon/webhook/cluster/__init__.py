"""The cluster that a webhook serves, as the webhook sees it: a client, caches, and policies out of
them.

Read `cluster_client` (requests and watches) and `informers` (one collection, kept
current), then `cluster_policies` (those of one type with their bindings, and all of them as a
source of policies) and `cluster_world` (what a review may look up). `denial_events` writes Events.
"""

from celadon.webhook.cluster.cluster_client import (
    ENDLESS_LIST,
    IDLE_PAGES,
    ClusterClient,
    ClusterError,
    ClusterRefusal,
    ClusterUnreachable,
    Page,
    cluster_catalog,
    discover,
)
from celadon.webhook.cluster.cluster_policies import (
    ClusterPolicies,
    FollowedRelease,
    PolicySettings,
)
from celadon.webhook.cluster.denial_events import DenialEvents

__all__ = [
    "ENDLESS_LIST",
    "IDLE_PAGES",
    "ClusterClient",
    "ClusterError",
    "ClusterPolicies",
    "ClusterRefusal",
    "ClusterUnreachable",
    "DenialEvents",
    "FollowedRelease",
    "Page",
    "PolicySettings",
    "cluster_catalog",
    "discover",
]
