"""What a server says about itself: one JSON object a line, in the members of upstream's JSON logs.

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
from collections.abc import Mapping
from typing import Any, Final

LIFE: Final = 0
"""That the server begins, reloads, ends."""

REQUESTS: Final = 3
"""Each request."""

MOST: Final = 10
"""More than this says no more."""

LOGGER: Final = logging.getLogger("celadon.serve")
_FIELDS: Final = "celadon_fields"
_MESSAGE_ONLY: Final[Mapping[str, Any]] = {}


def level_of(verbosity: int) -> int:
    """The level of Python's logging: the more verbose, the lower."""
    return logging.INFO - min(verbosity, MOST)


def is_said(verbosity: int) -> bool:
    """Whether anybody hears it."""
    return LOGGER.isEnabledFor(level_of(verbosity))


def say(verbosity: int, message: str, fields: Mapping[str, Any] = _MESSAGE_ONLY) -> None:
    """A message with its fields, in their order."""
    LOGGER.log(level_of(verbosity), message, extra={_FIELDS: fields})


def warn(message: str, fields: Mapping[str, Any] = _MESSAGE_ONLY) -> None:
    """Something that an operator should look at."""
    LOGGER.warning(message, extra={_FIELDS: fields})


class LogLines(logging.Formatter):
    """Log records as JSON lines, those of other libraries included. `speaker` is the logger that
    this process's own messages are said to come from, whatever it is that serves."""

    def __init__(self, speaker: str = LOGGER.name) -> None:
        super().__init__()
        self._speaker = speaker

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"ts": round(1000 * record.created, 3)}
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
