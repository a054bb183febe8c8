"""`celadon serve` as the recordings want it: a process, users by token, an audit log."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.apiserver.in_process import TOKENS
from tests.paths import ROOT

AUDIT_POLICY: Final = ROOT / "tests" / "recorded" / "audit-policy.yaml"
STOP_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """Where a running server is reached, and the file that it writes its audit events to."""

    url: str
    audit_log: Path


@contextlib.contextmanager
def served(
    folder: Path,
    *,
    all_versions: bool = False,
    release: str = "",
    gates: Mapping[str, bool] | None = None,
) -> Iterator[ServerProcess]:
    """A server with an empty store in memory; its files are in `folder`. It answers as `release`,
    if that is not empty."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens, audit_log = folder / "tokens.csv", folder / "audit.jsonl"
    tokens.write_text(TOKENS)
    switches = ",".join(f"{name}={str(value).lower()}" for name, value in (gates or {}).items())
    command = [
        *(sys.executable, "-m", "celadon", "serve", "--listen", "127.0.0.1:0"),
        *("--token-auth-file", str(tokens)),
        *("--audit-log", str(audit_log), "--audit-policy-file", str(AUDIT_POLICY)),
        *("--service-ca-config-map", "openshift-service-ca.crt"),
        *(("--runtime-config", "api/all=true") if all_versions else ()),
        *(("--kubernetes-version", release) if release else ()),
        *(("--feature-gates", switches) if switches else ()),
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        announced = process.stdout.readline()
        assert announced, (folder / "log").read_text()
        yield ServerProcess(announced.split()[-1], audit_log)
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)
        process.stdout.close()
