"""Recorded reviews, damaged in every way that comes to mind, for a webhook that must not mind.

Damage is done to the document (values exchanged, members dropped, doubled and renamed, depth and
size) and to the bytes (cut, flipped, repeated). Each is made of a seed, so that what was found can
be made again.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tests.paths import shared_folder

_ODD: Final[Sequence[Any]] = (
    *(None, True, False, 0, -1, 2**31, 2**63, 2**64, 1.5, 1e300, -0.0),
    *("", "x", "a" * 5000, "\x00", "\ud800", "\u202e", "💣" * 10, "../..", "null", "{}", "9" * 400),
    *([], [[]], [None], {}, {"": {}}, {"metadata": None}, {"metadata": {"labels": 7}}),
    {"metadata": {"name": [], "namespace": {}, "labels": {"a": None}, "annotations": []}},
    *("CREATE", "DELETE", "CONNECT", "admission.k8s.io/v1", "AdmissionReview", "Namespace"),
)
_OBJECTS: Final = ("object", "object", "oldObject", "options", "userInfo")
_MOST_REPEATED: Final = 4_000_000
"""Characters; what is repeated again and again grows beyond any memory."""
_BYTES: Final = (
    b"\x00",
    b"\xff",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\",
    b"\\ud800",
    b"1e999",
    b"NaN",
    b",",
)


def recorded_reviews() -> list[dict[str, Any]]:
    """The documents as they were sent."""
    folder = shared_folder() / "conformance" / "admissionreview"
    return [_review(path) for path in sorted(folder.glob("*.json"))]


def _review(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["review"]
    return found


class Damage:
    """A stream of damaged reviews, from a seed."""

    def __init__(self, reviews: Sequence[dict[str, Any]], seed: int) -> None:
        self._dice = random.Random(seed)
        self._texts = [json.dumps(one).encode() for one in reviews]

    def bodies(self, count: int) -> Iterator[bytes]:
        for _ in range(count):
            yield self._damaged()

    def _damaged(self) -> bytes:
        dice = self._dice
        if dice.random() < 0.1:
            return self._bytes(dice.choice(self._texts))
        document = json.loads(dice.choice(self._texts))  # much faster than a copy
        for _ in range(dice.choice((1, 1, 1, 2, 5))):
            self._change(document)
        body = json.dumps(document).encode()
        return self._bytes(body) if dice.random() < 0.05 else body

    def _bytes(self, body: bytes) -> bytes:
        dice = self._dice
        at = dice.randrange(len(body))
        ways: Sequence[Callable[[], bytes]] = (
            lambda: body[:at],
            lambda: body[at:],
            lambda: body[:at] + dice.choice(_BYTES) + body[at:],
            lambda: body[:at] + dice.choice(_BYTES) + body[at + 1 :],
            lambda: body[:at] + body[at : at + 200] * 3 + body[at:],
            lambda: body + body,
            lambda: bytes([body[at] ^ (1 << dice.randrange(8))]).join((body[:at], body[at + 1 :])),
            lambda: b"[" * dice.randrange(3000),
        )
        return dice.choice(ways)()

    def _change(self, document: Any) -> None:
        """Somewhere in it: from the root or, more often, one of its objects down, at each level on
        or here."""
        dice, place = self._dice, document
        request = document.get("request")
        if isinstance(request, dict) and dice.random() < 0.8:
            objects = [request.get(key) for key in _OBJECTS]
            below = [one for one in objects if isinstance(one, dict)]
            place = dice.choice(below) if below else request
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                return
            key = dice.choice(keys)
            below = place[key]
            if isinstance(below, dict | list) and below and dice.random() < 0.8:
                place = below
                continue
            self._spoil(place, key)
            return

    def _spoil(self, place: Any, key: Any) -> None:
        dice = self._dice
        way = dice.randrange(6)
        if way == 0:
            del place[key]
        elif way == 1:
            place[key] = self._deep(dice.choice((10, 100, 300, 1000)), place[key])
        elif way == 2 and isinstance(place, dict):
            place[str(dice.choice(_ODD))[:300]] = place.pop(key)
        elif way == 3:
            copies, text = dice.choice((2, 50, 1000)), json.dumps(place[key])
            if len(text) * copies <= _MOST_REPEATED:  # apart: damage to one would be damage to all
                place[key] = json.loads(f"[{','.join([text] * copies)}]")
        else:
            place[key] = copy.deepcopy(dice.choice(_ODD))

    def _deep(self, depth: int, core: Any) -> Any:
        found = core
        for _ in range(depth):
            found = {"a": found} if self._dice.random() < 0.5 else [found]
        try:
            json.dumps(found)
        except RecursionError:
            return core
        return found
