"""The file that events are appended to, each as one line, in one write."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celadon.serve.audit.audit_policy import AuditPolicy


class AuditLog:
    """A file and the policy that says what goes into it. Raises OSError."""

    def __init__(self, path: Path, policy: AuditPolicy) -> None:
        self.policy = policy
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def __enter__(self) -> AuditLog:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def write(self, event: Mapping[str, Any]) -> None:
        text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
        os.write(self._file, text.encode("utf-8", "replace") + b"\n")
