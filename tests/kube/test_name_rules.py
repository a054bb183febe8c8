"""The name checkers and their texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from celadon.kube import name_rules
from celadon.kube.releases import answering_as

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
QUALIFIED = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

ROWS: list[tuple[Callable[[str], list[str]], str, list[str]]] = [
    (name_rules.dns1123_label, "my-name", []),
    (name_rules.dns1123_label, "a" * 63, []),
    (name_rules.dns1123_label, "a" * 64, ["must be no more than 63 characters"]),
    (name_rules.dns1123_label, "a.b", ["must not contain dots"]),
    (name_rules.dns1123_label, "", [LABEL]),
    (name_rules.dns1123_label, "a\n", [LABEL]),
    (name_rules.dns1123_label, "é" * 32, ["must be no more than 63 characters", LABEL]),
    (name_rules.dns1123_subdomain, "a.b-c.d", []),
    (name_rules.dns1123_subdomain, "a..b", [SUBDOMAIN]),
    (name_rules.dns1123_subdomain, "a" * 254, ["must be no more than 253 characters"]),
    (name_rules.dns1035_label, "a1", []),
    (name_rules.dns1035_label, "1a", [LABEL_1035]),
    (name_rules.dns1035_label, "a" * 64, ["must be no more than 63 characters"]),
    (name_rules.qualified_name, "example.com/My_Name", []),
    (name_rules.qualified_name, "", ["name part must be non-empty", f"name part {QUALIFIED}"]),
    (name_rules.qualified_name, "/a", ["prefix part must be non-empty"]),
    (name_rules.qualified_name, "A/a", [f"prefix part {SUBDOMAIN}"]),
    (name_rules.qualified_name, "a" * 64, ["name part must be no more than 63 bytes"]),
    (
        name_rules.qualified_name,
        "a" * 254 + "/b",
        ["prefix part must be no more than 253 bytes"],
    ),
    (
        name_rules.qualified_name,
        "a/b/c",
        [
            f"a valid label key {QUALIFIED} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ],
    ),
    (name_rules.label_value, "", []),
    (name_rules.label_value, "-a", [VALUE]),
    (name_rules.label_value, "a" * 64, ["must be no more than 63 bytes"]),
    (name_rules.path_segment_name, "", []),
    (name_rules.path_segment_name, "..", ["may not be '..'"]),
    (name_rules.path_segment_name, "a%b/c", ["may not contain '/'", "may not contain '%'"]),
    (name_rules.condition_reason, "ReasonA,ReasonB", []),
]


@pytest.mark.parametrize(("check", "value", "want"), ROWS)
def test_messages(check: Callable[[str], list[str]], value: str, want: list[str]) -> None:
    assert check(value) == want


@pytest.mark.parametrize(("release", "unit"), [("1.34", "characters"), ("1.35", "bytes")])
def test_names_of_declared_kinds(release: str, unit: str) -> None:
    with answering_as(release):
        assert name_rules.long_name("a" * 254) == [f"must be no more than 253 {unit}"]


def test_condition_reason_message() -> None:
    (message,) = name_rules.condition_reason("1")
    assert message.startswith("a condition reason must start with alphabetic character, optional")
    assert message.endswith(
        "regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
    )


@pytest.mark.parametrize(
    ("prefix", "want"),
    [("foo-", "foa"), ("-", "-"), ("foo", "foo"), ("a.-", "aa"), ("é-", "é"), ("", "")],
)
def test_prefix_as_name(prefix: str, want: str) -> None:
    assert name_rules.prefix_as_name(prefix) == want


@pytest.mark.parametrize(("port", "fine"), [(0, False), (1, True), (65535, True), (65536, False)])
def test_port_number(port: int, fine: bool) -> None:
    assert name_rules.port_number(port) == (
        [] if fine else ["must be between 1 and 65535, inclusive"]
    )


def test_cel_identifiers() -> None:
    assert name_rules.is_cel_identifier("_a1")
    assert not name_rules.is_cel_identifier("1a")
    assert not name_rules.is_cel_identifier("namespace")
