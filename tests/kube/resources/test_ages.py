"""How tables show ages."""

from __future__ import annotations

import pytest

from celadon.kube.resources.api_resources import human_duration

M, H, D = 60, 3600, 86400
ROWS = [
    (-2, "<invalid>"),
    (-1, "0s"),
    (0, "0s"),
    (119, "119s"),
    (2 * M, "2m"),
    (9 * M + 59, "9m59s"),
    (10 * M + 5, "10m"),
    (179 * M, "179m"),
    (3 * H, "3h"),
    (7 * H + 59 * M, "7h59m"),
    (8 * H + 59 * M, "8h"),
    (47 * H, "47h"),
    (2 * D, "2d"),
    (2 * D + 5 * H, "2d5h"),
    (8 * D + 5 * H, "8d"),
    (729 * D, "729d"),
    (730 * D, "2y"),
    (731 * D, "2y1d"),
    (8 * 365 * D, "8y"),
]


@pytest.mark.parametrize(("seconds", "text"), ROWS)
def test_durations(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text
