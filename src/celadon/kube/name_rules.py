"""The rules for names, labels and their relatives, and what is said about a value that breaks one.

Each checker takes the value and returns the messages about it, none when the value is fine. The
texts are those of k8s.io/apimachinery `pkg/util/validation` and of its successor
`pkg/api/validate/content`; field errors, the CEL `format` library and the selector parsers quote
them. Lengths are counted in bytes of UTF-8 even where the text says "characters".
"""

from __future__ import annotations

from typing import Final

from celadon.kube.releases import UNIT_OF_NAMES, is_since, wording
from celadon.late_patterns import late_pattern

DNS1123_LABEL_MAX_BYTES: Final = 63
DNS1123_SUBDOMAIN_MAX_BYTES: Final = 253
DNS1035_LABEL_MAX_BYTES: Final = 63
QUALIFIED_NAME_MAX_BYTES: Final = 63
LABEL_VALUE_MAX_BYTES: Final = 63

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = _LABEL + r"(\." + _LABEL + ")*"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = "(" + _QUALIFIED + ")?"
_CONDITION_REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"

_LABEL_PATTERN: Final = late_pattern(_LABEL)
_SUBDOMAIN_PATTERN: Final = late_pattern(f"{_SUBDOMAIN}+")  # possessive: it remembers no label
_LABEL_1035_PATTERN: Final = late_pattern(_LABEL_1035)
_QUALIFIED_PATTERN: Final = late_pattern(_QUALIFIED)
_VALUE_PATTERN: Final = late_pattern(_VALUE)
_GOOD_LABEL: Final = late_pattern("[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_GOOD_NAME: Final = late_pattern("[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
"""What is neither too long nor wrong in another way: nearly everything, found out at once."""

_CONDITION_REASON_PATTERN: Final = late_pattern(_CONDITION_REASON)
_CEL_IDENTIFIER_PATTERN: Final = late_pattern("[_a-zA-Z][_a-zA-Z0-9]*")


def regex_message(text: str, pattern: str, *examples: str) -> str:
    """Return the message of a rule with its pattern and examples of what it allows."""
    message = ",  or ".join(f"'{example}'" for example in examples)
    return f"{text} (e.g. {message}, regex used for validation is '{pattern}')"


_SUBDOMAIN_MESSAGE: Final = regex_message(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_LABEL_MESSAGE: Final = regex_message(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
_LABEL_1035_MESSAGE: Final = regex_message(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character",
    _LABEL_1035,
    "my-name",
    "abc-123",
)
_QUALIFIED_RULE: Final = regex_message(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character",
    _QUALIFIED,
    "MyName",
    "my.name",
    "123-abc",
)
_VALUE_MESSAGE: Final = regex_message(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character",
    _VALUE,
    "MyValue",
    "my_value",
    "12345",
)
_CONDITION_REASON_MESSAGE: Final = regex_message(
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    _CONDITION_REASON,
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)


def _byte_length(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))


def _too_long(limit: int, unit: str) -> str:
    return f"must be no more than {limit} {unit}"


def _subdomain(value: str, unit: str) -> list[str]:
    messages = []
    if _byte_length(value) > DNS1123_SUBDOMAIN_MAX_BYTES:
        messages.append(_too_long(DNS1123_SUBDOMAIN_MAX_BYTES, unit))
    if _SUBDOMAIN_PATTERN.fullmatch(value) is None:
        messages.append(_SUBDOMAIN_MESSAGE)
    return messages


def dns1123_subdomain(value: str) -> list[str]:
    """Names of most objects."""
    return _subdomain(value, "characters")


def long_name(value: str) -> list[str]:
    """Names of the few kinds whose rules are declared with their types, since 1.35."""
    return _subdomain(value, "bytes" if is_since("1.35") else "characters")


def short_name(value: str) -> list[str]:
    """Single labels of the kinds whose rules are declared with their types."""
    return [
        text.replace("characters", "bytes", 1) if text.startswith("must be no more") else text
        for text in dns1123_label(value)
    ]


def dns1123_label(value: str) -> list[str]:
    """Names of namespaces and other single labels."""
    if _GOOD_LABEL.fullmatch(value) is not None:
        return []
    messages = []
    if _byte_length(value) > DNS1123_LABEL_MAX_BYTES:
        messages.append(_too_long(DNS1123_LABEL_MAX_BYTES, "characters"))
    if _LABEL_PATTERN.fullmatch(value) is None:
        dotted = _SUBDOMAIN_PATTERN.fullmatch(value) is not None
        messages.append("must not contain dots" if dotted else _LABEL_MESSAGE)
    return messages


def dns1035_label(value: str) -> list[str]:
    """Names of services and ports; versions; resource and kind names of a CRD."""
    messages = []
    if _byte_length(value) > DNS1035_LABEL_MAX_BYTES:
        messages.append(_too_long(DNS1035_LABEL_MAX_BYTES, "characters"))
    if _LABEL_1035_PATTERN.fullmatch(value) is None:
        messages.append(_LABEL_1035_MESSAGE)
    return messages


def prefix_as_name(prefix: str) -> str:
    """Return what is checked in place of a `generateName`: a dash at its end may precede the
    suffix.

    The last two bytes become one `a`. When the first of them is the end of a longer character, the
    rest of that character stays and keeps the name invalid.
    """
    if len(prefix) < 2 or not prefix.endswith("-"):
        return prefix
    return prefix[:-2] + "a" if prefix[-2].isascii() else prefix[:-1]


_QUALIFIED_SUBJECT: Final = wording("a valid label key", v1_35="a qualified name")


def qualified_name(value: str) -> list[str]:
    """Label and annotation keys, finalizers, condition types: `[subdomain/]name`."""
    if _GOOD_NAME.fullmatch(value) is not None:
        return []
    parts = value.split("/")
    if len(parts) > 2:
        return [
            f"{_QUALIFIED_SUBJECT.text} {_QUALIFIED_RULE} with an optional DNS subdomain prefix "
            "and '/' (e.g. 'example.com/MyName')"
        ]
    messages = []
    if len(parts) == 2:
        if not parts[0]:
            messages.append("prefix part must be non-empty")
        else:
            subdomain = _subdomain(parts[0], UNIT_OF_NAMES.text)
            messages.extend(f"prefix part {message}" for message in subdomain)
    name = parts[-1]
    if not name:
        messages.append("name part must be non-empty")
    elif _byte_length(name) > QUALIFIED_NAME_MAX_BYTES:
        messages.append(f"name part {_too_long(QUALIFIED_NAME_MAX_BYTES, UNIT_OF_NAMES.text)}")
    if _QUALIFIED_PATTERN.fullmatch(name) is None:
        messages.append(f"name part {_QUALIFIED_RULE}")
    return messages


def label_value(value: str) -> list[str]:
    """May be empty; at most 63 bytes."""
    if _GOOD_NAME.fullmatch(value) is not None:
        return []
    messages = []
    if _byte_length(value) > LABEL_VALUE_MAX_BYTES:
        messages.append(_too_long(LABEL_VALUE_MAX_BYTES, UNIT_OF_NAMES.text))
    if _VALUE_PATTERN.fullmatch(value) is None:
        messages.append(_VALUE_MESSAGE)
    return messages


def path_segment_name(value: str) -> list[str]:
    """Return what any name must satisfy to stand in a URL; the empty string passes."""
    if value in {".", ".."}:
        return [f"may not be '{value}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in value]


def port_number(value: int) -> list[str]:
    """1 to 65535."""
    return [] if 1 <= value <= 65535 else ["must be between 1 and 65535, inclusive"]


def condition_reason(value: str) -> list[str]:
    """Return what is wrong with the reason of a condition in a status: a letter first; letters,
    digits, `_`, `,` and `:`."""
    if _CONDITION_REASON_PATTERN.fullmatch(value) is None:
        return [_CONDITION_REASON_MESSAGE]
    return []


def is_cel_identifier(value: str) -> bool:
    """Return whether a name can be that of a CEL variable."""
    from celadon.cel import RESERVED  # late: few names are of variables

    return _CEL_IDENTIFIER_PATTERN.fullmatch(value) is not None and value not in RESERVED
