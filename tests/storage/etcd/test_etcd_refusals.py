"""Codes and texts of etcd as errors of the store."""

from __future__ import annotations

import pytest

from celadon.kube.well_known_values import FUTURE_REVISION
from celadon.storage.contract import ServiceError, ServiceFull, ServiceUnavailable, TooLarge
from celadon.storage.etcd.etcd_messages import (
    CODES,
    COMPACTED,
    EtcdTransaction,
    Malformed,
    NotBegun,
    RevisionRefused,
    refusal,
    transaction_answer,
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


@pytest.mark.parametrize(
    ("number", "name", "kind"),
    [
        (0, "OK", ServiceError),
        (1, "CANCELLED", ServiceUnavailable),
        (2, "UNKNOWN", ServiceUnavailable),
        (3, "INVALID_ARGUMENT", ServiceError),
        (4, "DEADLINE_EXCEEDED", ServiceUnavailable),
        (5, "NOT_FOUND", ServiceError),
        (6, "ALREADY_EXISTS", ServiceError),
        (7, "PERMISSION_DENIED", ServiceError),
        (8, "RESOURCE_EXHAUSTED", ServiceUnavailable),
        (9, "FAILED_PRECONDITION", ServiceError),
        (10, "ABORTED", ServiceUnavailable),
        (11, "OUT_OF_RANGE", ServiceError),
        (12, "UNIMPLEMENTED", ServiceError),
        (13, "INTERNAL", ServiceUnavailable),
        (14, "UNAVAILABLE", ServiceUnavailable),
        (15, "DATA_LOSS", ServiceError),
        (16, "UNAUTHENTICATED", ServiceError),
        (17, "UNKNOWN", ServiceUnavailable),
        (99, "UNKNOWN", ServiceUnavailable),
    ],
)
def test_without_a_text_the_code_is_said(number: int, name: str, kind: type[ServiceError]) -> None:
    """A code that is passing is worth another attempt."""
    found = refusal(number, "")
    assert (type(found), str(found)) == (kind, name)


@pytest.mark.parametrize(("text", "is_future"), [(COMPACTED, False), (FUTURE_REVISION, True)])
def test_which_revision_is_refused(text: str, is_future: bool) -> None:
    found = refusal(CODES.index("OUT_OF_RANGE"), text)
    assert isinstance(found, RevisionRefused)
    assert found.is_future is is_future


def test_an_answer_without_all_responses_is_malformed() -> None:
    with pytest.raises(Malformed, match=r": 2 responses are expected, there are 0$"):
        transaction_answer(b"", EtcdTransaction((), (), (b"/a", b"/b")))
