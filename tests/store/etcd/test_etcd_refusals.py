"""Codes and texts of etcd as errors of the store."""

from __future__ import annotations

import pytest

from celadon.store.errors import ServiceError, ServiceFull, ServiceUnavailable, TooLarge
from celadon.store.etcd.etcd_refusals import (
    COMPACTED,
    FUTURE,
    Code,
    NotBegun,
    RevisionRefused,
    refusal,
)


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        (Code.OUT_OF_RANGE, COMPACTED, RevisionRefused),
        (Code.OUT_OF_RANGE, FUTURE, RevisionRefused),
        (Code.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", ServiceFull),
        (Code.INVALID_ARGUMENT, "etcdserver: request is too large", TooLarge),
        (Code.RESOURCE_EXHAUSTED, "grpc: received message larger than max (3 vs. 2)", TooLarge),
        (Code.UNAVAILABLE, "etcdserver: no leader", NotBegun),
        (Code.RESOURCE_EXHAUSTED, "etcdserver: too many requests", NotBegun),
        (Code.UNAVAILABLE, "etcdserver: leader changed", ServiceUnavailable),
        (Code.UNAVAILABLE, "Socket closed", ServiceUnavailable),
        (Code.DEADLINE_EXCEEDED, "Deadline Exceeded", ServiceUnavailable),
        (Code.PERMISSION_DENIED, "etcdserver: permission denied", ServiceError),
    ],
)
def test_refusals(code: Code, text: str, kind: type[ServiceError]) -> None:
    found = refusal(code, text)
    assert (type(found), str(found)) == (kind, text)


def test_without_a_text_the_code_is_said() -> None:
    assert str(refusal(Code.UNKNOWN, "")) == "UNKNOWN"
