"""An audit with everything in it, in any format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.audit.dumps import json_lines, written
from tests.cli.files import binding, policy, run, write

RULES = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps", "nodes"],
    }
]


def audited(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: str,
    *words: str,
) -> tuple[int, str]:
    """Exit code and output. Policies that deny, warn, fail and match nothing."""
    monkeypatch.chdir(tmp_path)
    write(
        Path("p.json"),
        *(policy("denies", "object.metadata.name != 'bad<b>'", rules=RULES), binding("denies")),
        *(policy("warns", "object.metadata.name != 'node'", rules=RULES),),
        binding("warns", actions="Warn"),
        *(policy("fails", "object.data.x == 'no'"), binding("fails", actions="Audit")),
        *(policy("idle", rules=[{**RULES[0], "resources": ["pods"]}]), binding("idle")),
    )
    objects = [written("ConfigMap", "bad<b>", data={"y": "x"}), written("Node", "node", "")]
    Path("d.jsonl").write_bytes(json_lines(objects) + b"{oh\n")
    code, out, err = run(capsys, "audit", "-f", "p.json", "d.jsonl", "-o", form, *words)
    assert err == ""
    return code, out
