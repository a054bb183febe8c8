"""Which versions are served."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.runtime_config import runtime_config
from celadon.kube.resources import known_resources
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running


def served(text: str, gates: Mapping[str, bool] | None = None) -> set[str]:
    found = (one.gvr for one in runtime_config(text).catalog(gates or {}))
    return {"/".join(filter(None, gvr)) for gvr in found}


DEFAULT = served("")
EVERY = served("api/all=true")
SLICES = "resource.k8s.io/v1beta1/resourceslices"
POLICIES = "admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies"


def test_without_a_word_the_default_is_served() -> None:
    assert {"/".join(filter(None, one.gvr)) for one in known_resources()} == DEFAULT
    assert DEFAULT < EVERY


@pytest.mark.parametrize(
    ("text", "there", "gone"),
    [
        ("api/beta=true", {SLICES, "v1/pods"}, {POLICIES}),
        ("api/alpha=1", {POLICIES, "v1/pods"}, {SLICES}),
        ("api/all=true,api/beta=false", {POLICIES}, {SLICES}),
        ("api/beta=false,api/all=true", {POLICIES}, {SLICES}),
        ("batch/v1=false", {"apps/v1/deployments"}, {"batch/v1/jobs"}),
        ("batch/v1/jobs=false", {"batch/v1/cronjobs"}, {"batch/v1/jobs"}),
        ("resource.k8s.io/v1beta1", {SLICES}, {"resource.k8s.io/v1beta2/resourceslices"}),
        ("batch/v1=false,batch/v1/jobs=true", {"batch/v1/jobs"}, {"batch/v1/cronjobs"}),
        ("api/all=false,v1=true", {"v1/pods"}, {"apps/v1/deployments"}),
        ("api/v1=false", {"apps/v1/deployments"}, {"v1/pods"}),
    ],
)
def test_what_says_more_counts_more(text: str, there: set[str], gone: set[str]) -> None:
    found = served(text)
    assert there <= found
    assert not gone & found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("invented/v1=true", "unknown api groups invented"),
        ("batch/v9", "unknown api groups batch"),
        ("api/all=perhaps", "invalid value of api/all=perhaps"),
    ],
)
def test_what_nobody_can_mean(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        runtime_config(text)


def test_a_server_knows_no_other() -> None:
    running = Running(Settings(runtime_config=runtime_config("batch/v1/jobs=false")))
    try:
        assert ask(running, "GET", "/apis/batch/v1/jobs").code == 404
        names = [one["name"] for one in read(ask(running, "GET", "/apis/batch/v1"))["resources"]]
        assert "cronjobs" in names
        assert "jobs" not in names
    finally:
        running.close()


def test_some_kinds_need_a_gate_as_well() -> None:
    bundles = "certificates.k8s.io/v1beta1/clustertrustbundles"
    assert bundles not in EVERY
    assert bundles not in served("certificates.k8s.io/v1beta1=true")
    assert bundles in served("api/all=true", {"ClusterTrustBundle": True})
    assert not any(one.startswith("storagemigration.k8s.io/") for one in EVERY)
