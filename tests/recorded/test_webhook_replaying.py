"""Some of the recorded policies, enforced by a webhook."""

from __future__ import annotations

import pytest

from tests.recorded.webhook_replaying import (
    BEYOND,
    HOOK,
    as_policies,
    published,
    recorded_policies,
    replayed_all,
)

EVERY = 25
"""One of so many is replayed here; `python -m tests.recorded.webhook_replaying` does all."""

PATHS = recorded_policies()


@pytest.mark.thorough
@pytest.mark.skipif(not PATHS, reason="no recordings: set CELADON_SHARED to the shared folder")
def test_a_sample_agrees() -> None:
    found = dict(replayed_all(PATHS[::EVERY]))
    assert {name: wrong for name, wrong in found.items() if wrong and name not in BEYOND} == {}
    assert len(found) > 10


def test_what_lies_in_being_a_webhook_is_taken_off() -> None:
    refused = {"kind": "Status", "message": f'admission webhook "{HOOK}" denied the request: no'}
    assert as_policies(refused) == {"kind": "Status", "message": "no"}
    assert as_policies({"kind": "Status"}) == {"kind": "Status"}
    given = {f"{HOOK}/validation_failure": "[]", f"{HOOK}/p.example.com_a_b": "1", "other/x": "2"}
    assert published(given) == {
        "validation.policy.admission.k8s.io/validation_failure": "[]",
        "p.example.com/a_b": "1",
        "other/x": "2",
    }
