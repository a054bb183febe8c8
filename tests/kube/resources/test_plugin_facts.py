"""The names of the admission plugins, and the two options that switch them."""

from __future__ import annotations

import pytest

from celadon.kube.resources.plugin_facts import (
    DEFAULT_PLUGINS,
    PLUGIN_ORDER,
    PLUGINS,
    UnusablePlugins,
    enabled_plugins,
)


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
