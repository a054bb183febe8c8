"""Semantic versions: what is accepted, in which order they stand, and what is put right."""

from __future__ import annotations

import pytest

from celadon.kube.library.semver import SemverError, normalize, parse


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0",
        "1.2.3",
        "1.2.3-alpha.1",
        "1.2.3+build.01",
        "1.2.3-rc.1+b",
        "1.2.3--",
        "1.2.3-0a",
        "18446744073709551615.0.0",
    ],
)
def test_strict_versions_print_as_written(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "Version string empty"),
        ("1.2", "No Major.Minor.Patch elements found"),
        ("v1.2.3", 'Invalid character(s) found in major number "v1"'),
        ("1.x.3", 'Invalid character(s) found in minor number "x"'),
        ("1.2.3.4", 'Invalid character(s) found in patch number "3.4"'),
        ("01.2.3", 'Major number must not contain leading zeroes "01"'),
        ("1.02.3", 'Minor number must not contain leading zeroes "02"'),
        ("1.2.03", 'Patch number must not contain leading zeroes "03"'),
        ("..", 'strconv.ParseUint: parsing "": invalid syntax'),
        (
            "18446744073709551616.0.0",
            'strconv.ParseUint: parsing "18446744073709551616": value out of range',
        ),
        ("1.2.3-", "Prerelease is empty"),
        ("1.2.3-a..b", "Prerelease is empty"),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3-a_b", 'Invalid character(s) found in prerelease "a_b"'),
        ("1.2.3+", "Build meta data is empty"),
        ("1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'),
        ("1.2.3-é", 'Invalid character(s) found in prerelease "é"'),
    ],
)
def test_refuses(text: str, error: str) -> None:
    with pytest.raises(SemverError) as caught:
        parse(text)
    assert str(caught.value) == error


def test_a_number_too_long_for_python_to_read_is_out_of_range() -> None:
    with pytest.raises(SemverError, match="value out of range"):
        parse("9" * 5000 + ".0.0")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("v1", "1.0.0"),
        ("1.0", "1.0.0"),
        ("01.01.01", "1.1.1"),
        ("00.00.00", "0.0.0"),
        ("1.0.00-alpha", "1.0.0-alpha"),
        (" 1.0.0", "0 1.0.0"),
        ("V1.0.0", "0V1.0.0"),
        ("1..0", "1..0"),
        ("", ".0.0"),
        ("1.2.3-01", "1.2.3-01"),
    ],
)
def test_normalizing(text: str, normal: str) -> None:
    assert normalize(text) == normal


@pytest.mark.parametrize("text", ["1.0-alpha", "1+build"])
def test_short_versions_have_no_suffix(text: str) -> None:
    with pytest.raises(SemverError, match="short version cannot contain PreRelease/Build"):
        normalize(text)


def test_order() -> None:
    texts = [
        "0.9.9",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-a",
        "1.0.0-a.1",
        "1.0.0-rc.2",
        "1.0.0-rc.10",
        "1.0.0",
        "1.0.1",
        "1.10.0",
        "2.0.0",
    ]
    versions = [parse(text) for text in texts]
    for i, a in enumerate(versions):
        for j, b in enumerate(versions):
            assert (a.precedence() < b.precedence()) == (i < j)
            assert (a.precedence() == b.precedence()) == (i == j)


def test_build_metadata_has_no_order() -> None:
    assert parse("1.0.0+a").precedence() == parse("1.0.0+b").precedence()
