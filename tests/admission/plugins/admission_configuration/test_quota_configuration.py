"""What is limited without a quota."""

from __future__ import annotations

import pytest

from celadon.admission.plugins import LimitedResource
from celadon.admission.plugins.admission_configuration import BadConfiguration, limited_resources
from celadon.kube import GroupResource

API = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration"}


def test_limited_resources() -> None:
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    given = [{"resource": "pods", "matchScopes": [scope]}, {"apiGroup": "apps", "resource": "x"}]
    assert limited_resources({**API, "limitedResources": given}) == (
        LimitedResource(GroupResource("", "pods"), (), (scope,)),
        LimitedResource(GroupResource("apps", "x")),
    )


def test_the_old_versions_have_another_name() -> None:
    old = {"apiVersion": "resourcequota.admission.k8s.io/v1beta1", "kind": "Configuration"}
    assert limited_resources(old) == ()
    with pytest.raises(BadConfiguration, match="ResourceQuotaConfiguration of"):
        limited_resources({**API, "kind": "Configuration"})


def test_every_entry_has_a_resource() -> None:
    with pytest.raises(BadConfiguration, match=r"limitedResources\[0\].resource: Required value"):
        limited_resources({**API, "limitedResources": [{}]})
