"""Files of one volume over each other."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.pod_warnings import overlapping_paths
from celadon.kube.releases import answering_as


def items(*paths: str) -> list[dict[str, str]]:
    return [{"key": path, "path": path} for path in paths]


@pytest.mark.parametrize(
    ("volume", "want"),
    [
        ({"configMap": {"name": "m", "items": items("a", "ab", "b/c")}}, []),
        (
            {"configMap": {"name": "m", "items": items("a", "a/b")}},
            ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
        ),
        (
            {"secret": {"secretName": "s", "items": items("a", "a/")}},
            ['volume "v" (Secret "s"): overlapping paths: "a" with "a"'],
        ),
        (
            {"downwardAPI": {"items": items("x/y", "x")}},
            ['volume "v" (DownwardAPI): overlapping paths: "x" with "x/y"'],
        ),
        (
            {"projected": {"sources": [{}]}},
            ['volume "v" (Projected) has no sources provided'],
        ),
        (
            {
                "projected": {
                    "sources": [
                        {"configMap": {"name": "m", "items": items("t", "o")}},
                        {"secret": {"name": "s", "items": items("o")}},
                        {"serviceAccountToken": {"path": "t"}},
                        {"clusterTrustBundle": {"name": "b", "path": "c"}},
                        {"podCertificate": {"keyPath": "c/k"}},
                    ]
                }
            },
            [
                'volume "v" (Projected): overlapping paths: "o" (Secret "s") with "o" '
                '(ConfigMap "m")',
                'volume "v" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" '
                '(ConfigMap "m")',
                'volume "v" (Projected): overlapping paths: "c/k" (PodCertificate key) with "c" '
                '(ClusterTrustBundle "b")',
            ],
        ),
    ],
)
def test_paths(volume: dict[str, Any], want: list[str]) -> None:
    assert list(overlapping_paths([{"name": "v", **volume}])) == want


def test_a_source_without_paths_was_taken_for_the_one_before_it() -> None:
    sources = [{"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "m"}}]
    volumes = [{"name": "v", "projected": {"sources": sources}}]
    token = '"t" (ServiceAccountToken)'
    twice = f'volume "v" (Projected): overlapping paths: {token} with {token}'
    for release, expected in (("1.31", []), ("1.32", [twice]), ("1.33", [twice]), ("1.34", [])):
        with answering_as(release):
            assert list(overlapping_paths(volumes)) == expected
