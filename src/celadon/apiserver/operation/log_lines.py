"""Log lines of a server: one JSON object each, with the members of upstream's JSON logs.

A message has a verbosity, and is written when `-v` is at least that; warnings and errors always
are. Fields are what a message is about. Secrets never come here: neither bodies nor credentials are
fields of any message. As k8s.io/component-base `logs/json`.

| verbosity | what is said |
|---|---|
| 0 | the life of the server: ready, ending, what was reloaded |
| 2 | what it does unasked: a retry of a controller |
| 3 | each request: verb, path and query, code, latency, who |
| 5 | connections that are cut off |
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from time import monotonic
from traceback import extract_tb
from typing import Final

from celadon.kube.json_types import JsonDict, JsonObject

LIFE: Final = 0
"""That the server begins, reloads, ends."""

REQUESTS: Final = 3
"""Each request."""

MOST: Final = 10
"""More than this says no more."""

QUIET_SECONDS: Final = 60.0
"""For so long a cause that was told is only counted."""

MOST_CAUSES: Final = 100
"""Causes that are told apart."""

LOGGER: Final = logging.getLogger("celadon.apiserver")
_FIELDS: Final = "celadon_fields"
_MESSAGE_ONLY: Final[JsonObject] = {}


def level_of(verbosity: int) -> int:
    """Return the level of Python's logging: the more verbose, the lower."""
    return logging.INFO - min(verbosity, MOST)


def is_said(verbosity: int) -> bool:
    """Return whether anybody hears it."""
    return LOGGER.isEnabledFor(level_of(verbosity))


def say(verbosity: int, message: str, fields: JsonObject = _MESSAGE_ONLY) -> None:
    """Log a message with its fields, in their order."""
    LOGGER.log(level_of(verbosity), message, extra={_FIELDS: fields})


def warn(message: str, fields: JsonObject = _MESSAGE_ONLY) -> None:
    """Log something that an operator should look at."""
    LOGGER.warning(message, extra={_FIELDS: fields})


class LogLines(logging.Formatter):
    """Log records as JSON lines, those of other libraries included. `speaker` is the logger that
    this process's own messages are said to come from, whatever it is that serves."""

    def __init__(self, speaker: str = LOGGER.name) -> None:
        super().__init__()
        self._speaker = speaker

    def format(self, record: logging.LogRecord) -> str:
        line: JsonDict = {"ts": round(1000 * record.created, 3)}
        if record.levelno <= logging.INFO:
            line["v"] = logging.INFO - record.levelno
        else:
            line["level"] = record.levelname.lower()
        line["logger"] = self._speaker if record.name == LOGGER.name else record.name
        line["msg"] = record.getMessage()
        line.update(getattr(record, _FIELDS, _MESSAGE_ONLY))
        if record.exc_info:
            line["err"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class FailureLog:
    """Failures of our own: each cause with its traceback, but not again and again.

    Whoever finds a request that makes something raise can send it a thousand times a second. A
    cause is where it was raised; it is told once in a while, with how often it was seen since.
    `now` is in seconds."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._logged: dict[tuple[str, str, int], float] = {}
        self._counts: dict[tuple[str, str, int], int] = {}

    def tell(self, subject: str, error: BaseException) -> None:
        """Write one line, or only count it."""
        cause = _cause(error)
        now, last_told = self._now(), self._logged.get(cause)
        if last_told is not None and now - last_told < QUIET_SECONDS:
            self._counts[cause] = self._counts.get(cause, 0) + 1
            return
        if last_told is None and len(self._logged) >= MOST_CAUSES:
            self._logged.clear()
            self._counts.clear()
        self._logged[cause] = now
        since = self._counts.pop(cause, 0)
        often = f" ({since} more since it was last told)" if since else ""
        LOGGER.error("%s%s", subject, often, exc_info=error)


def _cause(error: BaseException) -> tuple[str, str, int]:
    """Return what was raised, and where."""
    frames = extract_tb(error.__traceback__, limit=-1)
    file, line = (frames[0].filename, frames[0].lineno or 0) if frames else ("", 0)
    return type(error).__name__, file, line


FAILURES: Final = FailureLog()
"""Of this process."""
