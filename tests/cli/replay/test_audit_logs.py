"""Lines and documents of audit logs: what is no event, and what is large."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from celadon.cli import audit_logs
from celadon.cli.audit_logs import LoggedLine, read_events
from celadon.cli.reading.documents import Problem


@pytest.mark.parametrize("line", [b"\x1c", b"\xc2\x85", b"{", b"no JSON", b"\xff"])
def test_a_line_that_is_no_json(line: bytes, tmp_path: Path) -> None:
    """The first two are white space in a text, and none in bytes."""
    log = tmp_path / "audit.log"
    log.write_bytes(b"{}\n" + line + b"\n")
    _, problem = read_events([str(log)])
    assert problem == Problem(str(log), 2, "this is no JSON")


EVENTS = [{"auditID": f"{n}é", "verb": "get", "requestURI": "x" * n} for n in range(50)]
OVER_LINES = "\n".join(json.dumps(event, indent=1, ensure_ascii=False) for event in EVENTS).encode()


def identities(lines: Iterator[LoggedLine | Problem]) -> list[str]:
    result = []
    for line in lines:
        if isinstance(line, Problem):
            result.append(line.text())
        elif line.event is not None:
            result.append(line.event.value["auditID"])
    return result


@pytest.mark.parametrize("least", [1, 7, 1 << 20])
def test_documents_over_several_lines(
    least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_logs, "_LEAST_READ", least)
    log = tmp_path / "audit.log"
    log.write_bytes(OVER_LINES)
    ids = [event["auditID"] for event in EVENTS]
    assert identities(read_events([str(log)])) == ids
    log.write_bytes(OVER_LINES + b"{")
    assert identities(read_events([str(log)])) == [*ids, f"{log}:1: this is no JSON"]


def test_no_more_is_held_than_one_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_logs, "MAX_LIST_CHARACTERS", 200)
    monkeypatch.setattr(audit_logs, "_LEAST_READ", 10)
    log = tmp_path / "audit.log"
    log.write_bytes(OVER_LINES)
    assert len(identities(read_events([str(log)]))) == len(EVENTS)
    log.write_bytes(b"[" * 10_000)
    (problem,) = read_events([str(log)])
    assert isinstance(problem, Problem)
    assert problem.message.startswith("a document is larger than")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(OVER_LINES,))
    writer.start()
    assert len(identities(read_events([str(pipe)]))) == len(EVENTS)
    writer.join()
