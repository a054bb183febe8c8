"""The names of the admission plugins, and the two options that switch them."""

from __future__ import annotations

import json

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.resources.admission_plugins import (
    DEFAULT_PLUGINS,
    PLUGIN_ORDER,
    PLUGINS,
    UnusablePlugins,
    default_plugins,
    enabled_plugins,
    known_plugins,
)
from tests.paths import shared

RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")


@pytest.mark.parametrize("release", RELEASES)
def test_plugins_are_those_that_a_server_of_the_release_names(release: str) -> None:
    path = shared("releases", release, "admission-plugins.json")
    theirs = json.loads(path.read_text(encoding="utf-8"))
    with answering_as(release):
        assert sorted(known_plugins(PLUGIN_ORDER)) == theirs["known"]
        assert list(known_plugins(default_plugins())) == theirs["default"]
        assert enabled_plugins() == set(theirs["default"])


def test_every_plugin_takes_part_in_a_phase() -> None:
    assert [one.name for one in PLUGINS if not (one.mutates or one.validates)] == []
    assert len(PLUGIN_ORDER) == len(PLUGINS)
    assert not any(one.on and one.lacks for one in PLUGINS)


def test_the_plugins_of_a_usual_server_in_their_order() -> None:
    """Written out: a plugin that moves or is off by mistake is hard to see otherwise."""
    assert [one.name for one in PLUGINS if one.on and not one.gate] == [
        "NamespaceLifecycle",
        "LimitRanger",
        "ServiceAccount",
        "TaintNodesByCondition",
        "PodSecurity",
        "Priority",
        "DefaultTolerationSeconds",
        "DefaultStorageClass",
        "StorageObjectInUseProtection",
        "PersistentVolumeClaimResize",
        "RuntimeClass",
        "CertificateApproval",
        "CertificateSigning",
        "ClusterTrustBundleAttest",
        "CertificateSubjectRestriction",
        "DefaultIngressClass",
        "PodTopologyLabels",
        "PodResizeValidator",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionWebhook",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionWebhook",
        "ResourceQuota",
    ]


def test_switches() -> None:
    assert enabled_plugins() == DEFAULT_PLUGINS
    assert enabled_plugins(["AlwaysDeny"]) == DEFAULT_PLUGINS | {"AlwaysDeny"}
    assert enabled_plugins(["Priority"], ["PodSecurity"]) == DEFAULT_PLUGINS - {"PodSecurity"}


@pytest.mark.parametrize(
    ("enable", "disable", "text"),
    [
        (["Nope"], [], 'enable-admission-plugins plugin "Nope" is unknown'),
        ([], ["priority"], 'disable-admission-plugins plugin "priority" is unknown'),
        (
            ["Priority", "AlwaysDeny"],
            ["AlwaysDeny", "Priority"],
            "[AlwaysDeny Priority] in enable-admission-plugins and disable-admission-plugins "
            "overlapped",
        ),
        (["ImagePolicyWebhook"], [], "`ImagePolicyWebhook` is not supported: it needs a backend "),
        (["EventRateLimit"], [], "`EventRateLimit` is not supported: it needs limits in a "),
    ],
)
def test_names_that_stop_the_start(enable: list[str], disable: list[str], text: str) -> None:
    with pytest.raises(UnusablePlugins) as raised:
        enabled_plugins(enable, disable)
    assert str(raised.value).startswith(text)
