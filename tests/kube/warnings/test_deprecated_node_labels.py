"""Selectors that ask for replaced labels."""

from __future__ import annotations

from celadon.kube.fieldpath import FieldPath
from celadon.kube.warnings.pod_warnings import selector_warnings, term_warnings

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
