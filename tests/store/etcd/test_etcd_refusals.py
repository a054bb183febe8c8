"""Codes and texts of etcd as errors of the store."""

from __future__ import annotations

import grpc
import pytest
from grpc.aio import AioRpcError, Metadata

from celadon.store.errors import ServiceError, ServiceFull, ServiceUnavailable, TooLarge
from celadon.store.etcd.etcd_refusals import COMPACTED, FUTURE, NotBegun, RevisionRefused, refusal

CODE = grpc.StatusCode


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        (CODE.OUT_OF_RANGE, COMPACTED, RevisionRefused),
        (CODE.OUT_OF_RANGE, FUTURE, RevisionRefused),
        (CODE.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", ServiceFull),
        (CODE.INVALID_ARGUMENT, "etcdserver: request is too large", TooLarge),
        (CODE.RESOURCE_EXHAUSTED, "grpc: received message larger than max (3 vs. 2)", TooLarge),
        (CODE.UNAVAILABLE, "etcdserver: no leader", NotBegun),
        (CODE.UNAVAILABLE, "failed to connect to all addresses; last error: x", NotBegun),
        (CODE.RESOURCE_EXHAUSTED, "etcdserver: too many requests", NotBegun),
        (CODE.UNAVAILABLE, "etcdserver: leader changed", ServiceUnavailable),
        (CODE.UNAVAILABLE, "Socket closed", ServiceUnavailable),
        (CODE.DEADLINE_EXCEEDED, "Deadline Exceeded", ServiceUnavailable),
        (CODE.PERMISSION_DENIED, "etcdserver: permission denied", ServiceError),
    ],
)
def test_refusals(code: grpc.StatusCode, text: str, kind: type[ServiceError]) -> None:
    found = refusal(AioRpcError(code, Metadata(), Metadata(), text))
    assert (type(found), str(found)) == (kind, text)


def test_without_a_text_the_code_is_said() -> None:
    assert str(refusal(AioRpcError(CODE.UNKNOWN, Metadata(), Metadata()))) == "UNKNOWN"
