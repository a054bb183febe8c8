"""The rules for texts that are no names: ports, keys, percentages, environment variables.

As `name_rules`: each takes the value and returns the messages about it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from celadon.cel.value_functions import netaddr
from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.name_rules import dns1123_subdomain
from celadon.kube.releases import is_since
from celadon.kube.selectors import LabelSelector, SelectorError, label_selector
from celadon.kube.validation.field_checks import (
    NO_ERRORS,
    STRICT_ADDRESSES,
    Errors,
    each,
    immutable,
    items,
    only_with,
)
from celadon.patterns import late_pattern

_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WILDCARD: Final = r"\*\." + _SUBDOMAIN
_CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_PATTERN: Final = late_pattern(_CONFIG_KEY)
_HEADER: Final = "[-A-Za-z0-9]+"
_C_IDENTIFIER: Final = "[A-Za-z_][A-Za-z0-9_]*"
_PERCENT: Final = "[0-9]+%"
_HTTP_PATH: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_UNDERSCORED: Final = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORED_SUBDOMAIN: Final = _UNDERSCORED + r"(\." + _UNDERSCORED + ")*"
_LEADING_ZEROS: Final = late_pattern(r"(?<![0-9a-fA-F:])0+(?=[0-9])")
_ENV_NAME: Final = late_pattern("[ -<>-~]*")
_STRICT_ENV_NAME: Final = late_pattern("[-._a-zA-Z][-._a-zA-Z0-9]*")

PORT_NAME_MAX_BYTES: Final = 15
CONFIG_KEY_MAX_BYTES: Final = 253
MAX_ID: Final = 2**31 - 1
IP_MESSAGE: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
CIDR_MESSAGE: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def _examples(text: str, pattern: str, *examples: str) -> str:
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"{text} (e.g. {shown}, regex used for validation is '{pattern}')"


def port_name(value: str) -> list[str]:
    """IANA service names: ports of containers and what refers to them."""
    messages = []
    if len(value) > PORT_NAME_MAX_BYTES:
        messages.append(f"must be no more than {PORT_NAME_MAX_BYTES} characters")
    if re.fullmatch("[-a-z0-9]+", value) is None:
        messages.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if re.search("[a-z]", value) is None:
        messages.append("must contain at least one letter (a-z)")
    if "--" in value:
        messages.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        messages.append("must not begin or end with a hyphen")
    return messages


def config_key(value: str) -> list[str]:
    """Keys of ConfigMaps and Secrets."""
    messages: list[str] = []
    is_plain = _CONFIG_KEY_PATTERN.fullmatch(value) is not None
    if is_plain and len(value) <= CONFIG_KEY_MAX_BYTES and value[0] != ".":
        return messages
    if len(value) > CONFIG_KEY_MAX_BYTES:
        messages.append(f"must be no more than {CONFIG_KEY_MAX_BYTES} characters")
    if not is_plain:
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        messages.append(_examples(text, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    return messages + _no_way_up(value)


def _no_way_up(value: str) -> list[str]:
    """No file of that name leads out of its directory."""
    if value in {".", ".."}:
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def strict_environment_name(value: str) -> list[str]:
    """The rule before any printable ASCII was let through."""
    found = []
    if _STRICT_ENV_NAME.fullmatch(value) is None:
        text = (
            "a valid environment variable name must consist of alphabetic characters, digits, '_', "
            "'-', or '.', and must not start with a digit"
        )
        examples = ("my.env-name", "MY_ENV.NAME", "MyEnvName1")
        found.append(_examples(text, _STRICT_ENV_NAME.pattern, *examples))
    return found + _no_way_up(value)


def environment_name(value: str) -> list[str]:
    """Any printable ASCII but `=`, not empty."""
    if _ENV_NAME.fullmatch(value) is None:
        return [
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"
        ]
    return []


def c_identifier(value: str) -> list[str]:
    """A letter or `_` first, then digits too."""
    if re.fullmatch(_C_IDENTIFIER, value) is None:
        text = (
            "a valid C identifier must start with alphabetic character or '_', followed by a "
            "string of alphanumeric characters or '_'"
        )
        return [_examples(text, _C_IDENTIFIER, "my_name", "MY_NAME", "MyName")]
    return []


def http_header(value: str) -> list[str]:
    """The name of a header."""
    if re.fullmatch(_HEADER, value) is None:
        text = "a valid HTTP header must consist of alphanumeric characters or '-'"
        return [_examples(text, _HEADER, "X-Header-Name")]
    return []


def percent(value: str) -> list[str]:
    """`25%`: digits and the sign."""
    if re.fullmatch(_PERCENT, value) is None:
        text = "a valid percent string must be a numeric string followed by an ending '%'"
        return [_examples(text, _PERCENT, "1%", "93%")]
    return []


def wildcard_subdomain(value: str) -> list[str]:
    """`*.example.com`."""
    messages = [one for one in dns1123_subdomain(value) if one.startswith("must be no more than")]
    if re.fullmatch(_WILDCARD, value) is None:
        text = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS "
            "subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and "
            "end with an alphanumeric character"
        )
        messages.append(_examples(text, _WILDCARD, "*.example.com"))
    return messages


def underscored_subdomain(value: str) -> list[str]:
    """Search domains, which resolvers take with underscores, too."""
    messages = [one for one in dns1123_subdomain(value) if one.startswith("must be no more than")]
    if re.fullmatch(_UNDERSCORED_SUBDOMAIN, value) is None:
        text = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'_', '-' or '.', and must start and end with an alphanumeric character"
        )
        shown = _UNDERSCORED_SUBDOMAIN if is_since("1.34") else _SUBDOMAIN
        messages.append(_examples(text, shown, "example.com"))
    return messages


def http_path(value: str) -> list[str]:
    """A path as in `httpGet`; what is wrong with it, or nothing."""
    if re.fullmatch(_HTTP_PATH, value) is None:
        return [f"Invalid path (regex used for validation is '{_HTTP_PATH}')"]
    return []


_HEX: Final = "[0-9a-fA-F]"
_UUID: Final = late_pattern(f"{_HEX}{{8}}(-{_HEX}{{4}}){{3}}-{_HEX}{{12}}|{_HEX}{{32}}")
_UUID_LENGTH: Final = 36
_URN: Final = "urn:uuid:"


def normal_uuid(value: str) -> list[str]:
    """Return what is wrong with a UUID: of the several forms that can be read one is accepted."""
    fault = _uuid_fault(value)
    if fault:
        return [f"error validating uid: {fault}"]
    if len(value) == _UUID_LENGTH and value == value.lower():
        return []
    return [
        "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
        "lowercase hexadecimal characters"
    ]


def _uuid_fault(text: str) -> str:
    """Return what github.com/google/uuid says of a text that is none in any form; else empty."""
    size, plain = len(text.encode()), text
    if size == _UUID_LENGTH + len(_URN):
        urn, plain = text[: len(_URN)], text[len(_URN) :]
        if urn.lower() != _URN:
            return f"invalid urn prefix: {quote(urn)}"
    elif size == _UUID_LENGTH + len("{}"):
        if not (text.startswith("{") and text.endswith("}")):
            return "invalid bracketed UUID format"
        plain = text[1:-1]
    elif size not in (_UUID_LENGTH, _UUID_LENGTH - len("----")):
        return f"invalid UUID length: {size}"
    return "" if _UUID.fullmatch(plain) else "invalid UUID format"


def user_or_group_id(value: int) -> list[str]:
    """0 to 2147483647."""
    return [] if 0 <= value <= MAX_ID else [f"must be between 0 and {MAX_ID}, inclusive"]


def address(value: str) -> netaddr.Addr | None:
    """An IP address without a zone, leading zeros allowed; None for anything else."""
    try:
        found = netaddr.parse_addr(_LEADING_ZEROS.sub("", value))
    except netaddr.AddrError:
        return None
    return None if found.zone else found


def unmapped(given: netaddr.Addr) -> str:
    """Return an address as Go's older type prints it, which does not know IPv4 in IPv6."""
    text = str(given)
    return text.removeprefix("::ffff:") if given.is_v4_mapped else text


def ip_address(value: str) -> list[str]:
    """IPv4 or IPv6, without a zone."""
    return [IP_MESSAGE] if address(value) is None else []


def network(value: str) -> netaddr.Prefix | None:
    """An address range in CIDR notation; None for anything else."""
    start, _, length = value.partition("/")
    if address(start) is None:
        return None
    try:
        return netaddr.parse_prefix(f"{_LEADING_ZEROS.sub('', start)}/{length}")
    except netaddr.AddrError:
        return None


def cidr(value: str) -> list[str]:
    """`10.0.0.0/8`, IPv4 or IPv6."""
    return [CIDR_MESSAGE] if network(value) is None else []


# --- Label rules -------------------------------------------------------------
#
# Labels, and the selectors that choose by them.


def labels(path: FieldPath, given: Mapping[str, str] | None) -> Errors:
    """Keys and values of a map of labels; also of a node selector."""
    for key, value in sorted((given or {}).items()):
        messages = name_rules.qualified_name(key)
        if messages:
            yield from each(path, key, messages)
        messages = name_rules.label_value(value)
        if messages:
            yield from each(path, value, messages)


def label_name(path: FieldPath, key: str) -> Errors:
    """A key of labels, as `ValidateLabelName`."""
    return each(path, key, name_rules.qualified_name(key))


def selector(path: FieldPath, given: JsonObject | None) -> Errors:
    """A LabelSelector. None is fine here; who needs one says so."""
    if given is None:
        return
    yield from labels(path.child("matchLabels"), given.get("matchLabels"))
    for at, requirement in items(given, "matchExpressions", path):
        yield from _requirement(at, requirement)


def _requirement(path: FieldPath, requirement: JsonObject) -> Errors:
    operator, values = requirement.get("operator") or "", requirement.get("values") or ()
    if operator in {"In", "NotIn"}:
        if not values:
            detail = "must be specified when `operator` is 'In' or 'NotIn'"
            yield fieldpath.required(path.child("values"), detail)
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield fieldpath.forbidden(path.child("values"), detail)
    else:
        at = path.child("operator")
        yield fieldpath.invalid(at, NamedText(operator), "not a valid selector operator")
    yield from label_name(path.child("key"), requirement.get("key") or "")
    for at, value in items(requirement, "values", path):
        yield from each(at, value, name_rules.label_value(value))


def same_selector(path: FieldPath, new: JsonObject | None, old: JsonObject | None) -> Errors:
    """A selector that an update may not change."""
    shown, was = (None if one is None else shown_selector(one) for one in (new, old))
    return immutable(path, shown, was)


def printed_selector(given: JsonObject) -> JsonDict:
    """A selector as an error shows it: Go's order, and nothing that is empty but keys and
    operators."""
    shown: JsonDict = {}
    if given.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(given["matchLabels"].items()))
    if given.get("matchExpressions"):
        shown["matchExpressions"] = [
            {
                "key": one.get("key") or "",
                "operator": one.get("operator") or "",
                **({"values": one["values"]} if one.get("values") else {}),
            }
            for one in given["matchExpressions"]
        ]
    return shown


def shown_selector(given: JsonObject) -> GoValue:
    """The selector as a bad value."""
    return GoValue(printed_selector(given), "v1.LabelSelector", given)


def understood(given: JsonObject | None) -> LabelSelector | None:
    """The selector as it selects; None when it cannot be understood."""
    try:
        return label_selector(given)
    except SelectorError:
        return None


def is_empty(given: JsonObject) -> bool:
    return not given.get("matchLabels") and not given.get("matchExpressions")


# --- Address rules -----------------------------------------------------------
#
# IP addresses and ranges: what is one, and how it has to be written.
#
# Fields from before 1.33 take several ways of writing; some of these are refused only while the
# gate `StrictIPCIDRValidation` is on, and never where the object had the same text before.
# Younger fields take the canonical form alone. As k8s.io/apimachinery
# `pkg/util/validation/ip.go`.


def older_address(path: FieldPath, value: str, known: Collection[str] = ()) -> Errors:
    """An address in a field that has long been there; `known` are those it had before."""
    if value in known:
        return NO_ERRORS
    found = ip_address(value)
    return each(path, value, found) if found else _strictly(path, value, _of_address(value))


def older_range(path: FieldPath, value: str, known: Collection[str] = ()) -> Errors:
    """The same of a range in CIDR notation."""
    if value in known:
        return NO_ERRORS
    found = cidr(value)
    return each(path, value, found) if found else _strictly(path, value, _of_range(value))


def _strictly(path: FieldPath, value: str, messages: list[str]) -> Errors:
    return only_with(STRICT_ADDRESSES, each(path, value, messages)) if messages else NO_ERRORS


def _of_address(value: str) -> list[str]:
    try:
        strict = netaddr.parse_addr(value)
    except netaddr.AddrError:
        return ["must not have leading 0s"]
    return ["must not be an IPv4-mapped IPv6 address"] if strict.is_v4_mapped else []


def _of_range(value: str) -> list[str]:
    try:
        strict = netaddr.parse_prefix(value)
    except netaddr.AddrError:
        return ["must not have leading 0s in IP or prefix length"]
    if strict.addr.is_v4_mapped:
        return ["must not have an IPv4-mapped IPv6 address"]
    if strict.masked() != strict:
        return ["must not have bits set beyond the prefix length"]
    return []


def canonical_address(value: str) -> list[str]:
    """An address as it should be written: in younger fields, and the name of an IPAddress."""
    messages = ip_address(value) or _of_address(value)
    strict = "" if messages else str(netaddr.parse_addr(value))
    return messages or ([] if strict == value else [_CANONICAL.format(quote(strict))])


def canonical_range(value: str) -> list[str]:
    """A range as it should be written."""
    messages = cidr(value) or _of_range(value)
    strict = "" if messages else str(netaddr.parse_prefix(value))
    return messages or ([] if strict == value else [_CANONICAL.format(quote(strict))])


def interface_address(value: str) -> list[str]:
    """An address with the length of its network, in canonical form; the bits behind stay."""
    found = network(value)
    if found is None:
        return ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"]
    length = found.length - 96 if found.addr.is_v4_mapped else found.length
    canonical = f"{unmapped(found.addr)}/{length}"
    return [] if canonical == value else [_CANONICAL.format(quote(canonical))]


_CANONICAL = "must be in canonical form ({})"
