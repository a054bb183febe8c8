"""Codes and texts of etcd as errors of the store."""

from __future__ import annotations

import pytest

from celadon.kube.well_known_values import FUTURE_REVISION
from celadon.storage.contract import ServiceError, ServiceFull, ServiceUnavailable, TooLarge
from celadon.storage.etcd.etcd_messages import (
    CODES,
    COMPACTED,
    NotBegun,
    RevisionRefused,
    refusal,
)


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        ("OUT_OF_RANGE", COMPACTED, RevisionRefused),
        ("OUT_OF_RANGE", FUTURE_REVISION, RevisionRefused),
        ("RESOURCE_EXHAUSTED", "etcdserver: mvcc: database space exceeded", ServiceFull),
        ("INVALID_ARGUMENT", "etcdserver: request is too large", TooLarge),
        ("RESOURCE_EXHAUSTED", "grpc: received message larger than max (3 vs. 2)", TooLarge),
        ("UNAVAILABLE", "etcdserver: no leader", NotBegun),
        ("RESOURCE_EXHAUSTED", "etcdserver: too many requests", NotBegun),
        ("UNAVAILABLE", "etcdserver: leader changed", ServiceUnavailable),
        ("UNAVAILABLE", "Socket closed", ServiceUnavailable),
        ("DEADLINE_EXCEEDED", "Deadline Exceeded", ServiceUnavailable),
        ("PERMISSION_DENIED", "etcdserver: permission denied", ServiceError),
    ],
)
def test_refusals(code: str, text: str, kind: type[ServiceError]) -> None:
    found = refusal(CODES.index(code), text)
    assert (type(found), str(found)) == (kind, text)


def test_without_a_text_the_code_is_said() -> None:
    assert str(refusal(CODES.index("INTERNAL"), "")) == "INTERNAL"
    assert str(refusal(99, "")) == "UNKNOWN"
