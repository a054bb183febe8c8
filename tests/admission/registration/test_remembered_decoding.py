"""What is stored is decoded once, as long as its spec stays."""

from __future__ import annotations

import copy
from typing import Any

from celadon.admission.registration import RememberedDecoding, decode_binding


def binding(name: str, policy: Any = "p") -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": policy, "validationActions": ["Deny"]},
    }


def test_the_same_spec_is_the_same_value() -> None:
    bindings = RememberedDecoding(lambda obj: decode_binding(obj).value)
    stored = binding("a")
    (first,) = bindings.values([stored])
    assert bindings.values([stored])[0] is first
    assert bindings.values([copy.deepcopy(stored)])[0] is first, "equal, if not the same"
    (other,) = bindings.values([binding("a", "q")])
    assert other.spec.policy_name == "q"


def test_what_cannot_be_decoded_takes_no_part_and_is_told() -> None:
    bindings = RememberedDecoding(lambda obj: decode_binding(obj).value)
    stored = [binding("a"), binding("b", 7), binding("c")]
    for _ in range(2):
        assert [one.name for one in bindings.values(stored)] == ["a", "c"]
        assert list(bindings.problems) == ["b"]
        assert "policyName" in bindings.problems["b"]
    assert [one.name for one in bindings.values([binding("b")])] == ["b"]
    assert bindings.problems == {}
