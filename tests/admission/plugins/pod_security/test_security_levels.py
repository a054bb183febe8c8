"""What the labels of a namespace choose."""

from __future__ import annotations

import pytest

from celadon.admission.plugins.pod_security_standards import (
    LevelVersion,
    SecurityPolicy,
    is_stricter,
    policy_of,
)

PREFIX = "pod-security.kubernetes.io/"
ONE_OF = "must be one of privileged, baseline, restricted"


@pytest.mark.parametrize(
    ("labels", "chosen"),
    [
        ({}, ("privileged:latest", "privileged:latest", "privileged:latest")),
        ({"enforce": "baseline"}, ("baseline:latest", "privileged:latest", "baseline:latest")),
        (
            {"enforce": "baseline", "enforce-version": "v1.24"},
            ("baseline:v1.24", "privileged:latest", "baseline:v1.24"),
        ),
        (
            {"enforce": "baseline", "enforce-version": "v1.24", "warn-version": "v1.30"},
            ("baseline:v1.24", "privileged:latest", "baseline:v1.30"),
        ),
        (
            {"enforce": "baseline", "warn": "privileged"},
            ("baseline:latest", "privileged:latest", "privileged:latest"),
        ),
        (
            {"enforce": "restricted", "enforce-version": "v1.24", "warn": "baseline"},
            ("restricted:v1.24", "privileged:latest", "baseline:latest"),
        ),
        ({"audit-version": "v1.0"}, ("privileged:latest", "privileged:v1.0", "privileged:latest")),
    ],
)
def test_labels(labels: dict[str, str], chosen: tuple[str, ...]) -> None:
    policy, errors = policy_of({PREFIX + key: value for key, value in labels.items()})
    assert errors == []
    assert tuple(map(str, (policy.enforce, policy.audit, policy.warn))) == chosen


@pytest.mark.parametrize(
    ("key", "value", "why", "chosen"),
    [
        ("enforce", "x", ONE_OF, "restricted:latest"),
        ("audit", "x", ONE_OF, "privileged:latest"),
        ("warn", "", ONE_OF, "privileged:latest"),
        ("enforce-version", "1.2", 'must be "latest" or "v1.x"', "privileged:latest"),
        ("enforce-version", "v1.01", 'must be "latest" or "v1.x"', "privileged:latest"),
        ("warn-version", "v2.0", 'must be "latest" or "v1.x"', "privileged:latest"),
    ],
)
def test_wrong_labels(key: str, value: str, why: str, chosen: str) -> None:
    policy, errors = policy_of({PREFIX + key: value})
    (error,) = errors
    assert str(error) == f'metadata.labels[{PREFIX}{key}]: Invalid value: "{value}": {why}'
    assert str(getattr(policy, key.split("-", 1)[0])) == chosen


def test_order_of_levels() -> None:
    assert is_stricter("restricted", "baseline")
    assert is_stricter("baseline", "privileged")
    assert not is_stricter("baseline", "baseline")
    assert str(LevelVersion("baseline", 30)) == "baseline:v1.30"


def test_what_is_enforced_is_warned_of_unless_it_is_wrong_or_less_strict() -> None:
    strict = SecurityPolicy(warn=LevelVersion("restricted", 30))
    policy, _ = policy_of({f"{PREFIX}enforce": "baseline"}, strict)
    assert str(policy.warn) == "restricted:v1.30"
    wrong, _ = policy_of({f"{PREFIX}enforce": "x"})
    assert (wrong.enforce.level, wrong.warn.level) == ("restricted", "privileged")
