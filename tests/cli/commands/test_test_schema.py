"""`celadon test schema`: the schema, on standard output."""

from __future__ import annotations

import json

import pytest

from tests.cli.files import run


def test_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "test", "schema")
    assert (code, err) == (0, "")
    assert json.loads(out)["title"] == "PolicyTest"
