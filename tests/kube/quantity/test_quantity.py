"""Quantities: which texts are quantities, the two forms, arithmetic, and how they print."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.quantity import (
    BINARY_SUFFIXES,
    DECIMAL_SUFFIXES,
    MILLI,
    Format,
    Quantity,
    QuantityError,
    from_int,
    parse,
)

FORMAT = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
SUFFIX = "unable to parse quantity's suffix"
NUMERIC = "unable to parse numeric part of quantity"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0", "0"),
        ("000", "0"),
        ("0Mi", "0"),
        ("-0", "0"),
        # kept as written: canonical by the cheap test
        ("+5", "+5"),
        ("010Mi", "010Mi"),
        ("5.", "5."),
        ("1E3", "1E3"),
        ("100k", "100k"),
        ("1500m", "1500m"),
        ("3Ki", "3Ki"),
        ("12e6", "12e6"),
        # made canonical
        ("1000", "1k"),
        ("1000m", "1"),
        ("0.1", "100m"),
        (".5", "500m"),
        ("1.5", "1500m"),
        ("12000", "12k"),
        ("1e4", "10e3"),
        ("1e0", "1e0"),
        ("1000e0", "1e3"),
        ("1024Mi", "1Gi"),
        ("8Ki", "8Ki"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("0.0005Ki", "512m"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("0.0000000001k", "100n"),
        ("8Ei", "9223372036854775807"),
        ("-9Ei", "-9223372036854775807"),
        ("9999999999999999999Ei", "9223372036854775807"),
        ("12345678901234567890", "12345678901234567890"),
        ("1e-12", "1e-9"),
        # a power that has no suffix is lost
        ("1000E", "1"),
        ("5000E", "5"),
        ("1e21", "1e21"),
    ],
)
def test_prints(text: str, printed: str) -> None:
    assert str(parse(text)) == printed


@pytest.mark.parametrize("text", ["Mi", "k", "E", "+", "-", ".", "+k", "-.n"])
def test_digits_are_not_required(text: str) -> None:
    assert parse(text).sign == 0


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", FORMAT),
        (" 1", FORMAT),
        ("1 ", FORMAT),
        ("1.2.3", FORMAT),
        ("abc", FORMAT),
        ("10Mo", FORMAT),
        ("--1", SUFFIX),
        ("1e1.5", FORMAT),
        ("１", FORMAT),
        ("10Mm", SUFFIX),
        ("1i", SUFFIX),
        ("200K", SUFFIX),
        ("1ki", SUFFIX),
        ("1e", SUFFIX),
        ("1e+", SUFFIX),
        ("1+5", SUFFIX),
        ("1e3k", FORMAT),
        ("1ee5", SUFFIX),
        ("1e9223372036854775808", SUFFIX),
        ("1e" + "9" * 5000, SUFFIX),
        ("Pi", NUMERIC),
        ("-Ei", NUMERIC),
        ("e-10", NUMERIC),
    ],
)
def test_refuses(text: str, error: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse(text)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-50k", -50_000),
        ("1.5k", 1500),
        ("1.0k", 1000),
        ("0.001k", 1),
        ("1Ti", 1 << 40),
        ("1E", 10**18),
        ("9e18", 9 * 10**18),
        ("999999999999999999", 999_999_999_999_999_999),
        ("0e2000000000", 0),
        ("1000000000000000000", None),
        ("9223372036854775807", None),
        ("1.0", None),
        ("0.0", None),
        ("1000m", None),
        ("1Pi", None),
        ("100Ti", None),
        ("1.5Ki", None),
        ("10E", None),
        ("1e2000000000", None),
    ],
)
def test_integers(text: str, value: int | None) -> None:
    quantity = parse(text)
    assert quantity.as_int64() == value
    assert quantity.is_integer is (value is not None)


@pytest.mark.parametrize(
    ("a", "b", "total", "difference"),
    [
        ("50k", "20k", "70k", "30k"),
        ("1", "500m", "1500m", "500m"),
        ("500m", "500m", "1", "0"),
        ("1Ki", "1", "1025", "1023"),
        ("100Mi", "28Mi", "128Mi", "72Mi"),
        ("0", "1Ki", "1Ki", "-1Ki"),
        ("0.0", "1Ki", "1Ki", "-1Ki"),
        ("1e3", "500m", "1000500e-3", "999500e-3"),
        ("1", "0", "1", "1"),
        ("9999999999999999999Ei", "1", "8Ei", "9223372036854775806"),
        ("12345678901234567890", "500m", "12345678901234567890500m", "12345678901234567889500m"),
    ],
)
def test_arithmetic(a: str, b: str, total: str, difference: str) -> None:
    assert str(parse(a).add(parse(b))) == total
    assert str(parse(a).sub(parse(b))) == difference


def test_sum_keeps_the_finer_scale() -> None:
    assert not parse("500m").add(parse("500m")).is_integer
    assert parse("1.5k").add(parse("500")).is_integer


def test_sum_beyond_int64_is_exact() -> None:
    total = parse("9E").add(parse("1")).add(parse("9E"))
    assert str(total) == "18000000000000000001"
    assert total.exact is not None


def test_zero_takes_the_format_of_the_other() -> None:
    assert str(parse("0").add(from_int(1000, Format.DECIMAL_EXPONENT))) == "1e3"
    assert str(parse("5").add(from_int(995, Format.DECIMAL_EXPONENT))) == "1k"


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        ("1Ki", "1024", 0),
        ("200M", "0.2G", 0),
        ("50Mi", "50M", 1),
        ("50M", "50Mi", -1),
        ("-1", "1n", -1),
        ("1e2000000000", "1", 1),
        ("-1e2000000000", "-1", -1),
        ("1.5Gi", "1536Mi", 0),
    ],
)
def test_order(a: str, b: str, order: int) -> None:
    assert parse(a).compare(parse(b)) == order
    assert parse(b).compare(parse(a)) == -order


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("50.703k", 50703.0),
        ("500m", 0.5),
        ("50k", 50000.0),
        ("1.5Gi", 1610612736.0),
        ("1n", 1e-09),
        ("1e400", float("inf")),
        ("-1e400", float("-inf")),
        ("1", 1.0),
    ],
)
def test_approximate_float(text: str, value: float) -> None:
    assert parse(text).approximate_float() == value


@pytest.mark.parametrize(
    ("text", "rounded"),
    [
        ("0.0001", "1m"),
        ("-0.0001", "-1m"),
        ("1500u", "2m"),
        ("1", "1"),
        ("100k", "100k"),
        ("1.5Gi", "1536Mi"),
        ("0.0000015Gi", "1610613m"),
    ],
)
def test_rounding_up_to_milli(text: str, rounded: str) -> None:
    assert str(parse(text).round_up(MILLI)) == rounded


def test_hostile_sizes_end_quickly() -> None:
    huge = parse("9" * 200_000)
    assert huge.compare(parse("1")) == 1
    assert str(huge.add(parse("1"))) == "100"
    assert len(str(huge)) == 200_000
    with pytest.raises(QuantityError):
        parse("1e2000000000").add(parse("1"))
    with pytest.raises(QuantityError):
        parse("9" * 20 + "e1000000000")


_NUMBERS = st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,12})?", fullmatch=True)
_SUFFIXES = st.sampled_from([*DECIMAL_SUFFIXES, *BINARY_SUFFIXES, "e3", "E-2", "e0", "e+7"])
_TEXTS = st.builds(str.__add__, _NUMBERS, _SUFFIXES)


def _value(quantity: Quantity) -> Fraction:
    return Fraction(quantity.as_decimal())


@given(_TEXTS)
def test_printing_and_reading_again_keeps_the_value(text: str) -> None:
    quantity = parse(text)
    if abs(_value(quantity)) < 10**21:
        again = parse(
            str(Quantity(quantity.mantissa, quantity.scale, quantity.format, quantity.exact))
        )
        assert again.compare(quantity) == 0


@given(_TEXTS, _TEXTS)
def test_arithmetic_is_exact(a: str, b: str) -> None:
    x, y = parse(a), parse(b)
    assert _value(x.add(y)) == _value(x) + _value(y)
    assert _value(x.sub(y)) == _value(x) - _value(y)
    assert x.compare(y) == (_value(x) > _value(y)) - (_value(x) < _value(y))
    assert x.add(y).sub(y).compare(x) == 0


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP x", max_size=12))
def test_any_text_gives_a_quantity_or_an_error(text: str) -> None:
    try:
        outcome = str(parse(text))
    except QuantityError as error:
        outcome = str(error)
    assert outcome in (FORMAT, SUFFIX, NUMERIC) or str(parse(outcome)) == outcome


@pytest.mark.parametrize("text", ["1e64", "-1e999999999", "5e2147483647"])
def test_the_lowest_bits_of_what_is_very_large(text: str) -> None:
    assert (parse(text).int64_value(), parse(text).int64_value(3)) == (0, 0)


@pytest.mark.parametrize(
    ("text", "thousandths"),
    [
        ("10k", 10_000_000),
        ("999999999999999999", 10**21 - 1000 - 54 * 2**64),
        ("100Pi", 100 * 2**50 * 1000 - 6 * 2**64),
        ("1E", 0),
    ],
)
def test_thousandths_beyond_an_int64(text: str, thousandths: int) -> None:
    """Powers of ten that Go multiplies by at once leave the lowest bits, others nothing."""
    assert parse(text).int64_value(3) == thousandths
