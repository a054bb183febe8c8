"""Timestamps: canonical forms, and Go's words for what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go.go_time import (
    DurationError,
    TimeError,
    canonical_micro_time,
    canonical_time,
    date_complaint,
    parse_go_duration,
)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.999Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05,9Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:30", "2026-01-02T00:34:05Z"),
        ("2026-01-01T00:00:00-01:00", "2026-01-01T01:00:00Z"),
        ("2026-01-02T3:04:05Z", "2026-01-02T03:04:05Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_time(text: str, want: str) -> None:
    assert canonical_time(text) == want


def test_micro_time() -> None:
    assert canonical_micro_time("2026-01-02T03:04:05.000006+01:00") == (
        "2026-01-02T02:04:05.000006Z"
    )


LAYOUT = '"2006-01-02T15:04:05Z07:00"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday", f'parsing time "yesterday" as {LAYOUT}: cannot parse "yesterday" as "2006"'),
        ("", f'parsing time "" as {LAYOUT}: cannot parse "" as "2006"'),
        (
            'é"\n',
            rf'parsing time "\xc3\xa9\"\x0a" as {LAYOUT}: cannot parse "\xc3\xa9\"\x0a" as "2006"',
        ),
        ("2026", f'parsing time "2026" as {LAYOUT}: cannot parse "" as "-"'),
        (
            "2026-01-02",
            f'parsing time "2026-01-02" as {LAYOUT}: cannot parse "" as "T"',
        ),
        (
            "2026-01-02T03:04:05",
            f'parsing time "2026-01-02T03:04:05" as {LAYOUT}: cannot parse "" as "Z07:00"',
        ),
        (
            "2026-01-02T03:04:05+25:00",
            'parsing time "2026-01-02T03:04:05+25:00": time zone offset hour out of range',
        ),
        (
            "2026-01-02T03:04:05+00:61",
            'parsing time "2026-01-02T03:04:05+00:61": time zone offset minute out of range',
        ),
        (
            "0001-01-01T00:00:00+01:00",
            'parsing time "0001-01-01T00:00:00+01:00": year out of range',
        ),
        ("2026-13-02T03:04:05Z", 'parsing time "2026-13-02T03:04:05Z": month out of range'),
        ("2026-02-30T03:04:05Z", 'parsing time "2026-02-30T03:04:05Z": day out of range'),
        ("2026-01-02T24:04:05Z", 'parsing time "2026-01-02T24:04:05Z": hour out of range'),
        ("2026-01-02T03:60:05Z", 'parsing time "2026-01-02T03:60:05Z": minute out of range'),
        ("2026-01-02T03:04:60Z", 'parsing time "2026-01-02T03:04:60Z": second out of range'),
        (
            "2026-01-02T03:04:05Zz",
            'parsing time "2026-01-02T03:04:05Zz": extra text: "z"',
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(TimeError) as error:
        canonical_time(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2024-02-29", ""),
        ("", 'parsing time "" as "2006-01-02": cannot parse "" as "2006"'),
        ("2024-2-1", 'parsing time "2024-2-1" as "2006-01-02": cannot parse "2-1" as "01"'),
        ("2024-13-01", 'parsing time "2024-13-01": month out of range'),
        ("2023-02-29", 'parsing time "2023-02-29": day out of range'),
        ("2024-02-29T", 'parsing time "2024-02-29T": extra text: "T"'),
    ],
)
def test_what_is_no_date(text: str, message: str) -> None:
    assert date_complaint(text) == message


def test_micro_time_needs_six_digits() -> None:
    with pytest.raises(TimeError) as error:
        canonical_micro_time("2024-01-02T03:04:05Z")
    assert str(error.value) == (
        'parsing time "2024-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse '
        '"Z" as ".000000"'
    )


@given(st.text(alphabet="0129-T:Z+.,x", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (canonical_time, canonical_micro_time):
        try:
            once = read(text)
        except TimeError:
            continue
        assert read(once) == once


@given(st.datetimes(), st.integers(0, 23), st.sampled_from("+-"))
def test_offsets_are_taken_off(moment: object, hours: int, sign: str) -> None:
    text = f"{str(moment)[:10]}T12:00:00{sign}{hours:02}:00"
    try:
        assert canonical_time(text).endswith(":00:00Z")
    except TimeError as error:
        assert "year out of range" in str(error)  # noqa: PT017  # only at the ends of the calendar


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'invalid duration ""'),
        ("5", 'missing unit in duration "5"'),
        ("1h0", 'missing unit in duration "1h0"'),
        ("1h2x", 'unknown unit "x" in duration "1h2x"'),
        ("+-1s", 'invalid duration "+-1s"'),
        ("1é", r'unknown unit "\xc3\xa9" in duration "1\xc3\xa9"'),
        ("9999999h", 'invalid duration "9999999h"'),
    ],
)
def test_go_says_what_is_wrong_with_a_duration(text: str, message: str) -> None:
    with pytest.raises(DurationError) as error:
        parse_go_duration(text)
    assert str(error.value) == f"time: {message}"
