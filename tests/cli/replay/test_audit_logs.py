"""Lines of audit logs that are no events."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.audit_logs import read_events
from celadon.cli.reading.documents import Problem


@pytest.mark.parametrize("line", [b"\x1c", b"\xc2\x85", b"{", b"no JSON", b"\xff"])
def test_a_line_that_is_no_json(line: bytes, tmp_path: Path) -> None:
    """The first two are white space in a text, and none in bytes."""
    log = tmp_path / "audit.log"
    log.write_bytes(b"{}\n" + line + b"\n")
    _, problem = read_events([str(log)])
    assert problem == Problem(str(log), 2, "this is no JSON")
