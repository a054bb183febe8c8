"""The words that all checks share."""

from __future__ import annotations

import pytest

from celadon.admission.plugins.pod_security_standards import Violation, named, one_or_more, setters


def test_violations() -> None:
    assert str(Violation("hostPort", "80")) == "hostPort (80)"
    assert str(Violation("hostPort")) == "hostPort"


@pytest.mark.parametrize(
    ("pod", "names", "text"),
    [
        (False, [], ""),
        (True, [], "pod"),
        (False, ["a"], 'container "a"'),
        (True, ["a", "b"], 'pod and containers "a", "b"'),
    ],
)
def test_who_has_set_something(pod: bool, names: list[str], text: str) -> None:
    assert setters(names, pod=pod) == text


def test_numbers() -> None:
    assert (one_or_more("volume", 1), one_or_more("volume", 0)) == ("volume", "volumes")
    assert named(["a"], "volume") == 'volume "a"'
