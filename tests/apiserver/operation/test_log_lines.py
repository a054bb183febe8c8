"""Failures are told once in a while."""

from __future__ import annotations

import logging

import pytest

from celadon.apiserver.operation.log_lines import MOST_CAUSES, QUIET_SECONDS, FailureLog


def fail(kind: type[Exception]) -> None:
    raise kind("x")


def raised(kind: type[Exception] = KeyError) -> Exception:
    with pytest.raises(kind) as caught:
        fail(kind)
    return caught.value


def test_a_cause_is_told_once_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    log = FailureLog(lambda: now[0])
    with caplog.at_level(logging.ERROR):
        for _ in range(1000):
            log.tell("GET /", raised())
        log.tell("GET /", raised(ValueError))
        now[0] = QUIET_SECONDS
        log.tell("GET /", raised())
    assert [one.message for one in caplog.records] == [
        "GET /",
        "GET /",
        "GET / (999 more since it was last told)",
    ]


def test_causes_are_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    log = FailureLog(lambda: 0.0)
    kinds = [type(f"E{number}", (Exception,), {}) for number in range(MOST_CAUSES + 1)]
    with caplog.at_level(logging.ERROR):
        for kind in [*kinds, kinds[-1], kinds[0]]:
            log.tell("x", raised(kind))
    assert len(caplog.records) == MOST_CAUSES + 2
