"""`celadon audit -o junit`: a case for each policy."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.cli.formats.audits.audited import audited

CASES = {
    (): {"denies": "failure", "fails": "error", "idle": "", "warns": ""},
    ("--fail-on", "violation"): {
        "denies": "failure",
        "fails": "error",
        "idle": "",
        "warns": "failure",
    },
    ("--fail-on", "never"): {"denies": "", "fails": "error", "idle": "", "warns": ""},
}


@pytest.mark.parametrize("words", CASES)
def test_cases(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "junit", *words)
    root = ElementTree.fromstring(out)
    cases = list(root.iter("testcase"))
    found = {
        one.get("name"): "".join(child.tag for child in one)
        for one in cases
        if one.get("classname") == "policy"
    }
    assert found == CASES[words]
    assert root.get("tests") == str(len(cases))
    assert root.get("failures") == str(len(list(root.iter("failure"))))
    assert root.get("errors") == str(len(list(root.iter("error"))))
    assert [one.get("classname") for one in cases if one.find("skipped") is not None] == ["notice"]
