"""Selectors that ask for replaced labels."""

from __future__ import annotations

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.pod_warnings import label_deprecation, selector_warnings, term_warnings
from celadon.kube.releases import answering_as

PATH = FieldPath("f")
OLD = {"key": "beta.kubernetes.io/os", "operator": "In", "values": ["linux", "-"]}
SAID = 'deprecated since v1.14; use "kubernetes.io/os" instead'


def test_a_term_of_a_node_selector() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}, OLD]}
    at = "f.matchExpressions[1]"
    found = [f"{at}.key: beta.kubernetes.io/os is {SAID}"]
    assert list(term_warnings(term, PATH)) == found
    (_, value) = term_warnings(term, PATH, check_values=True)
    assert value.startswith(f"{at}.values[1]: - is invalid, a valid label must be")


def test_a_label_selector() -> None:
    selector = {"matchExpressions": [OLD], "matchLabels": {"beta.kubernetes.io/os": "linux"}}
    assert list(selector_warnings(selector, PATH)) == [
        f"f.matchExpressions[0].key: beta.kubernetes.io/os is {SAID}",
        f"f.matchLabels.beta.kubernetes.io/os: {SAID}",
    ]
    assert not list(selector_warnings(None, PATH))


def test_values_of_terms_are_looked_at_since_1_33() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]}
    with answering_as("1.32"):
        assert not list(term_warnings(term, PATH, check_values=True))
    with answering_as("1.33"):
        assert len(list(term_warnings(term, PATH, check_values=True))) == 1


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("app.kubernetes.io/created-by", "deprecated since v1.9"),
        (
            "scheduler.alpha.kubernetes.io/preferAvoidPods",
            "deprecated since v1.22; use Taints and Tolerations instead",
        ),
        (
            "node-role.kubernetes.io/master",
            'use "node-role.kubernetes.io/control-plane" instead',
        ),
    ],
)
def test_labels_deprecated_since_1_31(key: str, says: str) -> None:
    assert label_deprecation(key) == says
    with answering_as("1.30"):
        assert label_deprecation(key) is None
        assert label_deprecation("beta.kubernetes.io/os") == SAID
