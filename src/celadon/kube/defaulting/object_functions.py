"""The functions of the defaulting rules that work on a whole object, by their names there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.defaulting import pods, services, workloads
from celadon.kube.defaulting.paths import Apply

OBJECT_FUNCTIONS: Final[Mapping[str, Apply]] = {
    "appArmorFromAnnotations": pods.apparmor_from_annotations,
    "claimDataSources": workloads.claim_data_sources,
    "hpaV1": workloads.hpa_v1,
    "jobSelector": workloads.job_selector,
    "limitRangeItem": workloads.limit_range_item,
    "localAPIServiceAvailable": workloads.local_api_service_available,
    "matchLabelKeys": pods.match_label_keys,
    "podCIDRs": pods.pod_cidrs,
    "podIPs": pods.pod_ips,
    "podLevelResources": pods.pod_level_resources,
    "podStatus": pods.pod_status,
    "requestUser": workloads.request_user,
    "requestsFromLimits": pods.requests_from_limits,
    "roundMilli": workloads.round_milli,
    "secretStringData": workloads.secret_string_data,
    "serviceAllocate": services.service_allocate,
}
