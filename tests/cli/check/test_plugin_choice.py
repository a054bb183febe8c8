"""Which plugins are asked."""

from __future__ import annotations

import pytest

from celadon.cli.check.plugins import plugin_choice
from celadon.kube.resources import UnusablePlugins


def test_the_default_ones() -> None:
    found = plugin_choice((), (), None, whole_cluster=False)
    assert {"PodSecurity", "LimitRanger", "ResourceQuota", "ServiceAccount"} <= {*found.asked}
    assert "ValidatingAdmissionWebhook" not in found.asked
    assert "AlwaysDeny" not in found.asked
    assert found.unasked == ()


def test_more_and_fewer() -> None:
    given = ("AlwaysPullImages,PodTolerationRestriction", "NamespaceAutoProvision")
    found = plugin_choice(given, ("PodSecurity",), None, whole_cluster=False)
    assert {"AlwaysPullImages", "PodTolerationRestriction"} <= {*found.asked}
    assert "PodSecurity" not in found.asked
    assert [name for name, _ in found.unasked] == ["NamespaceAutoProvision"]


@pytest.mark.parametrize(
    ("enable", "disable", "text"),
    [
        (["Nobody"], [], 'enable-admission-plugins plugin "Nobody" is unknown'),
        ([], ["ValidatingAdmissionPolicy"], "leave out its policies or webhooks"),
        (["EventRateLimit"], [], "it needs limits in a configuration file"),
    ],
)
def test_what_cannot_be_asked_for(enable: list[str], disable: list[str], text: str) -> None:
    with pytest.raises(UnusablePlugins, match=text):
        plugin_choice(enable, disable, None, whole_cluster=False)
