"""Named formats: what each accepts and says."""

from __future__ import annotations

import pytest

from celadon.cel.values.runtime_types import NONE
from celadon.kube import name_rules
from celadon.kube.library.format_and_regex import FORMATS
from tests.kube.library.evaluation import evaluate

UUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize(
    ("name", "text", "fine"),
    [
        ("dns1123Label", "my-name", True),
        ("dns1123Label", "a.b", False),
        ("dns1123Subdomain", "a.b", True),
        ("dns1035Label", "1a", False),
        ("qualifiedName", "example.com/MyName", True),
        ("qualifiedName", "a/b/c", False),
        ("dns1123LabelPrefix", "a-", True),
        ("dns1123LabelPrefix", "a.-", True),
        ("dns1123LabelPrefix", "-", False),
        ("dns1123SubdomainPrefix", "a.b-", True),
        ("dns1035LabelPrefix", "a-", True),
        ("labelValue", "", True),
        ("labelValue", "a/b", False),
        ("uri", "https://x/y", True),
        ("uri", "x", False),
        ("uuid", UUID, True),
        ("uuid", UUID.replace("-", "").upper(), True),
        ("uuid", UUID + "\n", False),
        ("byte", "YWJj", True),
        ("byte", "YQ==", True),
        ("byte", "YWJj\n", False),
        ("byte", "", False),
        ("byte", "abc", False),
        ("date", "2020-02-29", True),
        ("date", "2019-02-29", False),
        ("date", "2100-02-29", False),
        ("date", "0000-02-29", True),
        ("date", "2020-13-01", False),
        ("date", "2020-00-01", False),
        ("date", "2020-04-31", False),
        ("date", "2020-01-00", False),
        ("date", "2020-1-01", False),
        ("datetime", "2020-01-01T00:00:00Z", True),
        ("datetime", "2020-01-01t00:00:00z", True),
        ("datetime", "2020-01-01T23:59:59.123456789123456789123456789123+14:30", True),
        ("datetime", "2020-01-01T00:00:00,5Z", True),
        ("datetime", "2020-01-01T00:00:00Ztrailing", True),
        ("datetime", "2020-01-01T24:00:00Z", False),
        ("datetime", "2020-01-01T00:60:00Z", False),
        ("datetime", "2020-01-01T00:00:60Z", False),
        ("datetime", "2020-01-01 00:00:00Z", False),
        ("datetime", "2020-01-01T00:00:00", False),
        ("datetime", "2020-01-01", False),
    ],
)
def test_formats(name: str, text: str, fine: bool) -> None:
    assert (not FORMATS[name].complaints(text)) is fine


@pytest.mark.parametrize(
    ("name", "text", "complaints"),
    [
        ("dns1123Label", "A", name_rules.dns1123_label("A")),
        ("uri", "x", ['parse "x": invalid URI for request']),
        ("uuid", "x", ["does not match the UUID format"]),
        ("byte", "x", ["invalid base64"]),
        ("date", "x", ["invalid date"]),
        ("datetime", "x", ["invalid datetime"]),
    ],
)
def test_complaints(name: str, text: str, complaints: list[str]) -> None:
    assert evaluate(f"format.{name}().validate('{text}').value()") == complaints


def test_names() -> None:
    assert evaluate("format.named('uri').value() == format.uri()") is True
    assert evaluate("format.uuid() == format.uri()") is False
    assert evaluate("format.named('URI')") is NONE
    assert evaluate("format.uri().validate('/')") is NONE
    assert evaluate("format.uri()").display() == "{URI 0x0 1103}"
