"""Formats of strings, and durations."""

from __future__ import annotations

import pytest

from celadon.kube.crd.openapi_validation import is_of_texts, known_format, matches
from celadon.kube.go.go_time import DurationError, parse_duration
from celadon.kube.releases import answering_as

GOOD = [
    ("ipv4", "1.2.3.4"),
    ("ipv6", "::1"),
    ("ipv6", "::ffff:1.2.3.4"),
    ("cidr", "10.0.0.0/8"),
    ("mac", "00:00:5e:00:53:01"),
    ("mac", "0000.5e00.5301"),
    ("mac", "000000000000"),
    ("ipv4", "01.2.3.4"),
    ("hostname", "localhost"),
    ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    ("uuid4", "123E4567-E89B-42D3-A456-426614174000"),
    ("uuid5", "123e4567e89b52d3a456426614174000"),
    ("uuid3", "123e4567-e89b-32d3-a456-426614174000"),
    ("email", "a.b@example.com"),
    ("email", "Ann <a.b@example.com>"),
    ("email", "<a@b.c>"),
    ("hostname", "a-b.example.com"),
    ("uri", "https://example.com/x"),
    ("isbn", "0-306-40615-2"),
    ("isbn10", "0306406152"),
    ("isbn13", "978-0-306-40615-7"),
    ("isbn13", "978-3-16-148410-0"),
    ("isbn13", "9781861972712"),
    ("isbn13", "979 10 90636 07 1"),
    ("isbn", "978-1-86197-271-2"),
    ("creditcard", "4111 1111 1111 1111"),
    ("creditcard", "5555555555554444"),
    ("creditcard", "378282246310005"),
    ("creditcard", "6011000990139424"),
    ("creditcard", "4222222222222"),
    ("isbn10", "080442957X"),
    ("hostname", ".".join(["a" * 63] * 3 + ["b" * 60 + ".io"])),
    ("ssn", "111-11-1111"),
    ("hexcolor", "#fff"),
    ("rgbcolor", "rgb(1, 2, 255)"),
    ("rgbcolor", "rgb(199,29,249)"),
    ("hexcolor", "ffAA00"),
    ("cidr", "::/0"),
    ("bsonobjectid", "507f1f77bcf86cd799439011"),
    ("password", ""),
    ("byte", "aGk="),
    ("date", "2024-02-29"),
    ("date-time", "2024-02-29T00:00:00Z"),
    ("datetime", "2024-02-29t00:00:00.5+01:00"),
    ("duration", "1h30m"),
    ("k8s-short-name", "a-b"),
    ("k8s-long-name", "a.b"),
]
BAD = [
    ("ipv4", "::1"),
    ("ipv4", "1.2.3"),
    ("ipv6", "1.2.3.4"),
    ("ipv6", "fe80::1%eth0"),
    ("cidr", "10.0.0.0"),
    ("mac", "00:00:5e:00:53"),
    ("mac", "00000000000g"),
    ("hostname", "a.b"),
    ("hostname", ".".join(["a" * 63] * 3 + ["b" * 61 + ".io"])),
    ("hostname", "a" * 64 + ".example.com"),
    *(("creditcard", f"411111111111111{digit}") for digit in "023456789"),
    *(("creditcard", f"555555555555444{digit}") for digit in "012356789"),
    *(("isbn10", f"030640615{digit}") for digit in "013456789X"),
    *(("isbn13", f"978030640615{digit}") for digit in "012345689"),
    ("hostname", "example.com."),
    ("hostname", "xn--p1ai"),
    ("uuid4", "123e4567-e89b-12d3-a456-426614174000"),
    ("email", "a.b"),
    ("email", "Ann <a.b@example.com"),
    ("email", "a.b@example.com>"),
    ("hostname", "-a"),
    ("hostname", ""),
    ("uri", "x"),
    ("isbn10", "0306406153"),
    ("isbn10", "x"),
    ("isbn13", "9780306406158"),
    ("isbn13", "x"),
    ("creditcard", "4111 1111 1111 1112"),
    ("creditcard", "1"),
    ("hexcolor", "#ff"),
    ("rgbcolor", "rgb(1,2,256)"),
    ("rgbcolor", "rgb(1,2)"),
    ("rgbcolor", "(1,2,3)"),
    ("bsonobjectid", "507f1f77bcf86cd79943901"),
    ("uuid", "123e4567-e89b-12d3-a456-42661417400"),
    ("uuid3", "123e4567-e89b-42d3-a456-426614174000"),
    ("uuid5", "123e4567-e89b-52d3-c456-426614174000"),
    ("uuid4", "123e4567-e89b-42d3-c456-426614174000"),
    ("isbn", "1"),
    ("ssn", "111-11-111"),
    ("byte", "a"),
    ("date", "2023-02-29"),
    ("date-time", "2024-02-29"),
    ("duration", "long"),
    ("k8s-short-name", "a.b"),
    ("k8s-long-name", "A"),
]


@pytest.mark.parametrize(("name", "text"), GOOD)
def test_what_matches(name: str, text: str) -> None:
    assert known_format(name, "string") == known_format(name, "") == name
    assert known_format(name, "object") == known_format(name, "integer") == ""
    assert matches(name, text)


@pytest.mark.parametrize(("name", "text"), BAD)
def test_what_does_not(name: str, text: str) -> None:
    assert not matches(name, text)


@pytest.mark.parametrize(("release", "matched"), [("1.35", False), ("1.36", True)])
def test_hardware_addresses_without_separators(release: str, matched: bool) -> None:
    with answering_as(release):
        assert matches("mac", "0200000000000001") is matched
        assert matches("mac", "02:00:00:00:00:01")


@pytest.mark.parametrize("name", ["", "int16", "uint32", "made-up"])
def test_formats_that_check_nothing(name: str) -> None:
    for type_ in ("", "string", "integer", "number", "boolean", "array", "object"):
        assert known_format(name, type_) == ""


@pytest.mark.parametrize(
    ("name", "type_"),
    [("int32", "integer"), ("int64", "integer"), ("float", "number"), ("double", "number")],
)
def test_formats_of_numbers(name: str, type_: str) -> None:
    for one in ("", "string", "integer", "number", "boolean"):
        assert known_format(name, one) == (name if one == type_ else "")
    assert not is_of_texts(name)


SECOND = 10**9
DURATIONS = [
    ("0", 0),
    ("1.5s", 1_500_000_000),
    ("-1h2m", -3720 * SECOND),
    ("3 weeks", 3 * 7 * 86400 * SECOND),
    ("1 day, 2 hours", 26 * 3600 * SECOND),
    ("2wk", 14 * 86400 * SECOND),
    ("10 minutes", 600 * SECOND),
    ("5 nanoseconds", 5),
]


@pytest.mark.parametrize(("text", "nanoseconds"), DURATIONS)
def test_durations(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "x", "3 moons", "9999999999999999999 days"])
def test_no_durations(text: str) -> None:
    with pytest.raises(DurationError):
        parse_duration(text)
