"""The functions of the defaulting rules that work on a whole object, by their names there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.defaulting import pod_defaults, workload_defaults
from celadon.kube.defaulting.rule_paths import Apply
from celadon.kube.defaulting.service_rules import service_defaults

OBJECT_FUNCTIONS: Final[Mapping[str, Apply]] = {
    "appArmorFromAnnotations": pod_defaults.apparmor_from_annotations,
    "claimDataSources": workload_defaults.claim_data_sources,
    "hpaV1": workload_defaults.hpa_v1,
    "jobSelector": workload_defaults.job_selector,
    "limitRangeItem": workload_defaults.limit_range_item,
    "localAPIServiceAvailable": workload_defaults.local_api_service_available,
    "matchLabelKeys": pod_defaults.match_label_keys,
    "podCIDRs": pod_defaults.pod_cidrs,
    "podIPs": pod_defaults.pod_ips,
    "podLevelResources": pod_defaults.pod_level_resources,
    "podStatus": pod_defaults.pod_status,
    "requestUser": workload_defaults.request_user,
    "requestsFromLimits": pod_defaults.requests_from_limits,
    "roundMilli": workload_defaults.round_milli,
    "secretStringData": workload_defaults.secret_string_data,
    "serviceAllocate": service_defaults.service_allocate,
}
