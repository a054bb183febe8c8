"""Which IP families Services have, and who is refused for one."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext, PlaceholderNetwork, Run
from celadon.kube.defaulting.workload_defaults import settle_families
from celadon.kube.status import StatusError

Json = dict[str, Any]


class Known(PlaceholderNetwork):
    """Of a cluster that has IPv4 alone."""

    @property
    def families_are_known(self) -> bool:
        return True


class Dual(Known):
    """Of a cluster that has both."""

    @property
    def families(self) -> tuple[str, ...]:
        return ("IPv4", "IPv6")


NOT_DUAL = (
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for '
    "dual-stack services"
)


def settled(spec: Json, old: Json | None = None, network: Any = None) -> Json:
    context = DefaultingContext(network=network or Known())
    settle_families(spec, Run({"metadata": {"name": "s"}}, context, frozenset()), old or {})
    return {key: spec.get(key) for key in ("ipFamilyPolicy", "ipFamilies", "clusterIPs")}


@pytest.mark.parametrize(
    ("spec", "old", "policy", "families"),
    [
        ({}, {}, "SingleStack", ["IPv4"]),
        ({"clusterIP": "None"}, {}, "RequireDualStack", ["IPv4", "IPv6"]),
        ({"clusterIP": "None", "selector": {"a": "b"}}, {}, "SingleStack", ["IPv4"]),
        ({"clusterIP": "None"}, {"ipFamilyPolicy": "SingleStack"}, "SingleStack", ["IPv4"]),
        ({"ipFamilyPolicy": "PreferDualStack"}, {}, "PreferDualStack", ["IPv4"]),
    ],
)
def test_what_is_not_said(spec: Json, old: Json, policy: str, families: list[str]) -> None:
    addresses = {"clusterIPs": ["None"]} if "clusterIP" in spec else {}
    found = settled({"type": "ClusterIP", **spec, **addresses}, old)
    assert (found["ipFamilyPolicy"], found["ipFamilies"]) == (policy, families)


@pytest.mark.parametrize(
    ("spec", "old", "text"),
    [
        ({"ipFamilyPolicy": "RequireDualStack"}, {}, NOT_DUAL),
        (
            {"ipFamilyPolicy": ""},
            {"ipFamilyPolicy": "SingleStack"},
            'spec.ipFamilyPolicy: Unsupported value: "": supported values: "PreferDualStack", '
            '"RequireDualStack", "SingleStack"',
        ),
        (
            {"ipFamilies": ["IPv4", "IPv4"]},
            {},
            'spec.ipFamilies[1]: Duplicate value: "IPv4"',
        ),
        (
            {"clusterIP": "x", "clusterIPs": ["x"]},
            {},
            'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or '
            "2001:db8::ffff)",
        ),
        (
            {"clusterIP": "::1", "clusterIPs": ["::1"]},
            {},
            'spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on this cluster',
        ),
        (
            {"ipFamilies": ["IPv6"]},
            {},
            'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
        ),
        (
            {"ipFamilies": ["IPv4", "IPv6"]},
            {},
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or "
            "'PreferDualStack' when multiple IP families are specified",
        ),
        (
            {"clusterIP": "None", "clusterIPs": ["None"], "selector": {"a": "b"},
             "ipFamilies": ["IPv4", "IPv6"]},
            {"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv4", "IPv6"],
             "clusterIPs": ["None"]},
            f'[{NOT_DUAL}, spec.ipFamilies[1]: Invalid value: "IPv6": not configured on this '
            "cluster]",
        ),
    ],
)  # fmt: skip
def test_families_that_cannot_be_had(spec: Json, old: Json, text: str) -> None:
    with pytest.raises(StatusError) as refused:
        settled({"type": "ClusterIP", **spec}, old)
    assert (refused.value.code, str(refused.value)) == (422, f'Service "s" is invalid: {text}')


def test_a_second_family_is_released_by_the_policy() -> None:
    old = {"ipFamilies": ["IPv4", "IPv6"], "clusterIPs": ["10.0.0.1", "fd00::1"]}
    both = {"type": "ClusterIP", "clusterIP": "10.0.0.1", **old}
    assert settled({**both, "ipFamilyPolicy": "SingleStack"}, both, Dual()) == {
        "ipFamilyPolicy": "SingleStack",
        "ipFamilies": ["IPv4"],
        "clusterIPs": ["10.0.0.1"],
    }
    less = {**both, "ipFamilies": ["IPv4"], "clusterIPs": ["10.0.0.1"]}
    with pytest.raises(StatusError, match="must be 'SingleStack' to release the secondary IP fam"):
        settled({**less, "ipFamilyPolicy": "RequireDualStack"}, both, Dual())


def test_who_does_not_know_the_cluster_refuses_nobody() -> None:
    found = settled({"type": "ClusterIP", "ipFamilies": ["IPv6"]}, network=PlaceholderNetwork())
    assert found["ipFamilies"] == ["IPv6"]


def test_preferring_two_is_not_upgraded_by_itself() -> None:
    one = {"type": "ClusterIP", "ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv4"]}
    assert settled(dict(one), one, Dual())["ipFamilies"] == ["IPv4"]
    assert settled(dict(one), network=Dual())["ipFamilies"] == ["IPv4", "IPv6"]
