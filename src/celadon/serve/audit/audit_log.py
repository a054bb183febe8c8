"""The file that events are appended to, each as one line, in one write.

Before it becomes too large it is put aside under its name and the time, and a new one is begun;
those put aside go when they are too many or too old. Names and rules are those of the library that
kube-apiserver rotates with (lumberjack): `audit-2026-01-31T08-15-00.000.log` in UTC.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from celadon import owner_only
from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.serve.audit.audit_policy import AuditPolicy

DEFAULT_MEGABYTES: Final = 100
"""What 0 means (lumberjack)."""

MEGABYTE: Final = 1 << 20
_STAMP: Final = "%Y-%m-%dT%H-%M-%S"


@dataclass(frozen=True, slots=True)
class Rotation:
    """`--audit-log-maxsize` (megabytes), `--audit-log-maxage` (days), `--audit-log-maxbackup`; of
    the last two, 0 is no limit."""

    megabytes: int = 0
    days: int = 0
    backups: int = 0

    @property
    def bytes(self) -> int:
        return (self.megabytes or DEFAULT_MEGABYTES) * MEGABYTE


def line_of(event: Mapping[str, Any]) -> bytes:
    """An event as it stands in the file."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


class AuditLog:
    """A file and the policy that says what goes into it. Raises OSError."""

    def __init__(
        self,
        path: Path,
        policy: AuditPolicy,
        rotation: Rotation | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.policy = policy
        self._path = path
        self._rotation = Rotation() if rotation is None else rotation
        self._now = now
        self._file = self._opened()
        self._size = os.fstat(self._file).st_size

    def __enter__(self) -> AuditLog:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def write(self, event: Mapping[str, Any]) -> None:
        self.write_line(line_of(event))

    def write_line(self, line: bytes) -> None:
        """A line of `line_of`."""
        if self._size and self._size + len(line) > self._rotation.bytes:
            self._rotate()
        self._size += os.write(self._file, line)

    def _opened(self) -> int:
        return owner_only.open_to_append(self._path)

    def _rotate(self) -> None:
        now = self._now()
        stamp = f"{now.strftime(_STAMP)}.{now.microsecond // 1000:03}"
        self._path.rename(self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}"))
        fresh = self._opened()
        os.close(self._file)
        self._file, self._size = fresh, 0
        self._remove_old(now)

    def _remove_old(self, now: datetime) -> None:
        """Names begin with their times: the newest come last."""
        name = late_pattern(
            rf"{re.escape(self._path.stem)}-(\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d)\.\d{{3}}"
            rf"{re.escape(self._path.suffix)}"
        )
        found = sorted(one for one in self._path.parent.iterdir() if name.fullmatch(one.name))
        many = self._rotation.backups or len(found)
        for path in found[: len(found) - many]:
            path.unlink(missing_ok=True)
        if not self._rotation.days:
            return
        oldest = now - timedelta(days=self._rotation.days)
        for path in found:
            match = name.fullmatch(path.name)
            assert match is not None
            with contextlib.suppress(ValueError):
                if datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) < oldest:
                    path.unlink(missing_ok=True)
