"""The rules for texts that are no names: ports, keys, percentages, environment variables, URLs of
webhooks, JSON in annotations.

As `name_rules`: each takes the value and returns the messages about it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from celadon.cel.value_functions import netaddr
from celadon.kube import fieldpath, name_rules
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.go.go_json import JsonSyntaxError, read_json
from celadon.kube.go.go_text import GoValue, json_text, quote
from celadon.kube.go.go_time import TimeError, canonical_time
from celadon.kube.go.go_url import URLError
from celadon.kube.go.go_url import parse as parse_url
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.name_rules import dns1123_subdomain, regex_message
from celadon.kube.releases import is_since, wording
from celadon.kube.schemas.value_decoding import json_kind
from celadon.kube.selectors import LabelSelector, SelectorError, label_selector
from celadon.kube.validation import field_checks
from celadon.late_patterns import late_pattern

_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WILDCARD: Final = r"\*\." + _SUBDOMAIN
_CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_PATTERN: Final = late_pattern(_CONFIG_KEY)
_CONFIG_KEYS_PATTERN: Final = late_pattern(
    r"[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,252}(?:\n[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,252})*+"
)
"""Keys, one a line, none of which begins with a dot."""
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


def port_name(value: str) -> list[str]:
    """Validate an IANA service name, as of ports of containers and what refers to them."""
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


def are_config_keys(values: Collection[str]) -> bool:
    """Return whether nothing is wrong with any of these keys: one look in place of one for each is
    3 % of the instructions of a create with twelve."""
    if not values:
        return True
    text = "\n".join(values)
    has_one_a_line = text.count("\n") == len(values) - 1
    return has_one_a_line and _CONFIG_KEYS_PATTERN.fullmatch(text) is not None


def config_key(value: str) -> list[str]:
    """Validate a key of ConfigMaps and Secrets."""
    messages: list[str] = []
    is_plain = _CONFIG_KEY_PATTERN.fullmatch(value) is not None
    if is_plain and len(value) <= CONFIG_KEY_MAX_BYTES and value[0] != ".":
        return messages
    if len(value) > CONFIG_KEY_MAX_BYTES:
        messages.append(f"must be no more than {CONFIG_KEY_MAX_BYTES} characters")
    if not is_plain:
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        messages.append(regex_message(text, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    return messages + _no_way_up(value)


def _no_way_up(value: str) -> list[str]:
    """No file of that name leads out of its directory."""
    if value in {".", ".."}:
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def strict_environment_name(value: str) -> list[str]:
    """Validate the name of a variable as it was done before any printable ASCII was let through."""
    result = []
    if _STRICT_ENV_NAME.fullmatch(value) is None:
        text = (
            "a valid environment variable name must consist of alphabetic characters, digits, '_', "
            "'-', or '.', and must not start with a digit"
        )
        examples = ("my.env-name", "MY_ENV.NAME", "MyEnvName1")
        result.append(regex_message(text, _STRICT_ENV_NAME.pattern, *examples))
    return result + _no_way_up(value)


def environment_name(value: str) -> list[str]:
    """Validate the name of a variable: any printable ASCII but `=`, not empty."""
    if _ENV_NAME.fullmatch(value) is None:
        return [
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"
        ]
    return []


def c_identifier(value: str) -> list[str]:
    """Validate an identifier of C: a letter or `_` first, then digits too."""
    if re.fullmatch(_C_IDENTIFIER, value) is None:
        text = (
            "a valid C identifier must start with alphabetic character or '_', followed by a "
            "string of alphanumeric characters or '_'"
        )
        return [regex_message(text, _C_IDENTIFIER, "my_name", "MY_NAME", "MyName")]
    return []


def http_header(value: str) -> list[str]:
    """Validate the name of a header."""
    if re.fullmatch(_HEADER, value) is None:
        text = "a valid HTTP header must consist of alphanumeric characters or '-'"
        return [regex_message(text, _HEADER, "X-Header-Name")]
    return []


def percent(value: str) -> list[str]:
    """Validate a percentage, `25%`: digits and the sign."""
    if re.fullmatch(_PERCENT, value) is None:
        text = "a valid percent string must be a numeric string followed by an ending '%'"
        return [regex_message(text, _PERCENT, "1%", "93%")]
    return []


def wildcard_subdomain(value: str) -> list[str]:
    """Validate a subdomain with a wildcard: `*.example.com`."""
    messages = [
        text for text in dns1123_subdomain(value) if text.startswith("must be no more than")
    ]
    if re.fullmatch(_WILDCARD, value) is None:
        text = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS "
            "subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and "
            "end with an alphanumeric character"
        )
        messages.append(regex_message(text, _WILDCARD, "*.example.com"))
    return messages


def underscored_subdomain(value: str) -> list[str]:
    """Validate search domains, which resolvers take with underscores, too."""
    messages = [
        text for text in dns1123_subdomain(value) if text.startswith("must be no more than")
    ]
    if re.fullmatch(_UNDERSCORED_SUBDOMAIN, value) is None:
        text = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'_', '-' or '.', and must start and end with an alphanumeric character"
        )
        message = _UNDERSCORED_SUBDOMAIN if is_since("1.34") else _SUBDOMAIN
        messages.append(regex_message(text, message, "example.com"))
    return messages


def http_path(value: str) -> list[str]:
    """Validate a path as in `httpGet`."""
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
    """Validate the number of a user or a group: 0 to 2147483647."""
    return [] if 0 <= value <= MAX_ID else [f"must be between 0 and {MAX_ID}, inclusive"]


def address(value: str) -> netaddr.Addr | None:
    """Return an IP address without a zone, leading zeros allowed; None for anything else."""
    try:
        addr = netaddr.parse_addr(_LEADING_ZEROS.sub("", value))
    except netaddr.AddrError:
        return None
    return None if addr.zone else addr


def unmapped(addr: netaddr.Addr) -> str:
    """Return an address as Go's older type prints it, which does not know IPv4 in IPv6."""
    text = str(addr)
    return text.removeprefix("::ffff:") if addr.is_v4_mapped else text


def ip_address(value: str) -> list[str]:
    """Validate an address, IPv4 or IPv6, without a zone."""
    return [IP_MESSAGE] if address(value) is None else []


def network(value: str) -> netaddr.Prefix | None:
    """Return an address range in CIDR notation, leading zeros allowed; None for anything else."""
    start, _, length = value.partition("/")
    if address(start) is None:
        return None
    short = length.lstrip("0") or length[:1]
    try:
        return netaddr.parse_prefix(f"{_LEADING_ZEROS.sub('', start)}/{short}")
    except netaddr.AddrError:
        return None


def cidr(value: str) -> list[str]:
    """Validate a range, `10.0.0.0/8`, IPv4 or IPv6."""
    return [CIDR_MESSAGE] if network(value) is None else []


# --- Label rules -------------------------------------------------------------


def labels(path: FieldPath, data: Mapping[str, str] | None) -> field_checks.Errors:
    """Validate keys and values of a map of labels; also of a node selector."""
    for key, value in sorted((data or {}).items()):
        messages = name_rules.qualified_name(key)
        if messages:
            yield from field_checks.each(path, key, messages)
        messages = name_rules.label_value(value)
        if messages:
            yield from field_checks.each(path, value, messages)


def label_name(path: FieldPath, key: str) -> field_checks.Errors:
    """Validate a key of labels, as `ValidateLabelName`."""
    return field_checks.each(path, key, name_rules.qualified_name(key))


def selector(path: FieldPath, value: JsonObject | None) -> field_checks.Errors:
    """Validate a LabelSelector. None is fine here; who needs one says so."""
    if value is None:
        return
    yield from labels(path.child("matchLabels"), value.get("matchLabels"))
    for match_expression_path, requirement in field_checks.items(value, "matchExpressions", path):
        yield from _requirement(match_expression_path, requirement)


def _requirement(path: FieldPath, requirement: JsonObject) -> field_checks.Errors:
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
        operator_path = path.child("operator")
        yield fieldpath.invalid(operator_path, NamedText(operator), "not a valid selector operator")
    yield from label_name(path.child("key"), requirement.get("key") or "")
    for operator_path, value in field_checks.items(requirement, "values", path):
        yield from field_checks.each(operator_path, value, name_rules.label_value(value))


def same_selector(
    path: FieldPath, new: JsonObject | None, old: JsonObject | None
) -> field_checks.Errors:
    """Validate a selector that an update may not change."""
    if new == old:  # all of it is text
        return field_checks.NO_ERRORS
    go_value, was = (None if item is None else shown_selector(item) for item in (new, old))
    return field_checks.immutable(path, go_value, was)


def printed_selector(value: JsonObject) -> JsonDict:
    """Return a selector as an error shows it: Go's order, and nothing that is empty but keys and
    operators."""
    printed: JsonDict = {}
    if value.get("matchLabels"):
        printed["matchLabels"] = dict(sorted(value["matchLabels"].items()))
    if value.get("matchExpressions"):
        printed["matchExpressions"] = [
            {
                "key": match_expression.get("key") or "",
                "operator": match_expression.get("operator") or "",
                **(
                    {"values": match_expression["values"]} if match_expression.get("values") else {}
                ),
            }
            for match_expression in value["matchExpressions"]
        ]
    return printed


def shown_selector(value: JsonObject) -> GoValue:
    """Return the selector as a bad value."""
    return GoValue(printed_selector(value), "v1.LabelSelector", value)


def understood(value: JsonObject | None) -> LabelSelector | None:
    """Return the selector as it selects; None when it cannot be understood."""
    try:
        return label_selector(value)
    except SelectorError:
        return None


def is_empty(value: JsonObject) -> bool:
    return not value.get("matchLabels") and not value.get("matchExpressions")


# --- Address rules -----------------------------------------------------------
#
# IP addresses and ranges: what is one, and how it has to be written.
#
# Fields from before 1.33 take several ways of writing; some of these are refused only while the
# gate `StrictIPCIDRValidation` is on, and never where the object had the same text before.
# Younger fields take the canonical form alone. As k8s.io/apimachinery
# `pkg/util/validation/ip.go`.


def older_address(
    path: FieldPath, value: str, old_values: Collection[str] = ()
) -> field_checks.Errors:
    """Yield what is wrong with an IP address in a field from before 1.33. `old_values` are those
    that it had before: since 1.33 they stay valid."""
    if value in old_values and is_since("1.33"):
        return field_checks.NO_ERRORS
    result = ip_address(value)
    return (
        field_checks.each(path, value, result)
        if result
        else _strictly(path, value, _of_address(value))
    )


def older_range(
    path: FieldPath, value: str, old_values: Collection[str] = ()
) -> field_checks.Errors:
    """Yield what is wrong with a range in CIDR notation, as `older_address` does."""
    if value in old_values and is_since("1.33"):
        return field_checks.NO_ERRORS
    result = cidr(value)
    return (
        field_checks.each(path, value, result)
        if result
        else _strictly(path, value, _of_range(value))
    )


def _strictly(path: FieldPath, value: str, messages: list[str]) -> field_checks.Errors:
    return (
        field_checks.only_with(
            field_checks.STRICT_ADDRESSES, field_checks.each(path, value, messages)
        )
        if messages
        else field_checks.NO_ERRORS
    )


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
    """Validate that an address is written as it should be: in younger fields, and the name
    of an IPAddress."""
    messages = ip_address(value) or _of_address(value)
    strict = "" if messages else str(netaddr.parse_addr(value))
    return messages or ([] if strict == value else [_CANONICAL.format(quote(strict))])


def canonical_range(value: str) -> list[str]:
    """Validate that a range is written as it should be."""
    messages = cidr(value) or _of_range(value)
    strict = "" if messages else str(netaddr.parse_prefix(value))
    return messages or ([] if strict == value else [_CANONICAL.format(quote(strict))])


def interface_address(value: str) -> list[str]:
    """Validate an address with the length of its network, in canonical form; the bits behind
    stay."""
    prefix = network(value)
    if prefix is None:
        return ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"]
    length = prefix.length - 96 if prefix.addr.is_v4_mapped else prefix.length
    canonical = f"{unmapped(prefix.addr)}/{length}"
    return [] if canonical == value else [_CANONICAL.format(quote(canonical))]


_CANONICAL = "must be in canonical form ({})"


# --- Webhook locations -------------------------------------------------------
#
# Where a webhook is: a URL or a service.
#
# As k8s.io/apiserver `pkg/util/webhook/validation.go`. The host form, the name of the type of
# error for an unreadable URL and the swapped names of a service are those of upstream.

_FORM: Final = "; desired format: https://host[/path]"
_DEFAULT_PORT: Final = 443


def webhook_url_errors(text: str, path: FieldPath) -> list[FieldError]:
    """Yield what is wrong with the URL of a webhook."""
    try:
        url = parse_url(text)
    except URLError as error:
        return [fieldpath.required(path, f"url must be a valid URL: {error}{_FORM}")]
    errors = []
    if url.scheme != "https":
        detail = f"'https' is the only allowed URL scheme{_FORM}"
        errors.append(fieldpath.invalid(path, url.scheme, detail))
    if not url.host:
        errors.append(fieldpath.invalid(path, "", f"host must be specified{_FORM}"))
    if url.user is not None:
        written = url.user.written().decode("ascii")
        detail = "user information is not permitted in the URL"
        errors.append(fieldpath.invalid(path, written, detail))
    if url.fragment:
        message = url.fragment.decode("utf-8", "replace")
        errors.append(fieldpath.invalid(path, message, "fragments are not permitted in the URL"))
    if url.raw_query:
        message = url.raw_query.decode("utf-8", "replace")
        detail = "query parameters are not permitted in the URL"
        errors.append(fieldpath.invalid(path, message, detail))
    return errors


_NO_NAME: Final = wording("", v1_34="service name is required")
_NO_NAMESPACE: Final = wording("", v1_34="service namespace is required")


def webhook_service_errors(service: JsonObject, path: FieldPath) -> list[FieldError]:
    """Yield what is wrong with the service that a webhook is behind. Upstream hands name and
    namespace over in the wrong order."""
    errors = []
    if not service.get("namespace"):
        errors.append(fieldpath.required(path.child("name"), _NO_NAME.text))
    if not service.get("name"):
        errors.append(fieldpath.required(path.child("namespace"), _NO_NAMESPACE.text))
    port = service.get("port")
    port = _DEFAULT_PORT if port is None else port
    errors += [
        fieldpath.invalid(path.child("port"), port, f"port is not valid: {message}")
        for message in name_rules.port_number(port)
    ]
    if service.get("path") is not None:
        errors += _service_path(service["path"], path.child("path"))
    return errors


def _service_path(text: str, path: FieldPath) -> list[FieldError]:
    if text in {"", "/"}:
        return []
    errors = []
    if not text.startswith("/"):
        errors.append(fieldpath.invalid(path, text, "must start with a '/'"))
    for i, segment in enumerate(text[1:].removesuffix("/").split("/")):
        if not segment:
            errors.append(fieldpath.invalid(path, text, f"segment[{i}] may not be empty"))
            continue
        errors += [
            fieldpath.invalid(path, text, f"segment[{i}]: {message}")
            for message in name_rules.dns1123_subdomain(segment)
        ]
    return errors


# --- Annotations -------------------------------------------------------------
#
# What stands in annotations as JSON, which Go reads with its own decoder.
#
# Kinds once had fields in annotations: tolerations of pods, taints of nodes, and what a node
# would rather not run. They are read as `encoding/json` reads structs: names of members in any
# case, the first value that does not fit is told, and what is not known is nothing. As
# k8s.io/kubernetes `pkg/apis/core/helper` and k8s.io/component-helpers `scheduling/corev1`.

TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
TAINTS: Final = "scheduler.alpha.kubernetes.io/taints"
AVOIDED_PODS: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"


class AnnotationError(MalformedText):
    """Says in Go's words why an annotation is not what it should be."""


class _Struct(NamedTuple):
    """A Go type with its fields, by their names in JSON: the name of a scalar's type, `time`, or
    that of a struct in `_STRUCTS`, with `[]` before it for a list of them."""

    name: str
    fields: Mapping[str, str]


_STRUCTS: Final[Mapping[str, _Struct]] = MappingProxyType(
    {
        item.name: item
        for item in (
            _Struct(
                "core.Toleration",
                {
                    "key": "string",
                    "operator": "core.TolerationOperator",
                    "value": "string",
                    "effect": "core.TaintEffect",
                    "tolerationSeconds": "int64",
                },
            ),
            _Struct(
                "core.Taint",
                {
                    "key": "string",
                    "value": "string",
                    "effect": "core.TaintEffect",
                    "timeAdded": "time",
                },
            ),
            _Struct("v1.AvoidPods", {"preferAvoidPods": "[]v1.PreferAvoidPodsEntry"}),
            _Struct(
                "v1.PreferAvoidPodsEntry",
                {
                    "podSignature": "v1.PodSignature",
                    "evictionTime": "time",
                    "reason": "string",
                    "message": "string",
                },
            ),
            _Struct("v1.PodSignature", {"podController": "v1.OwnerReference"}),
            _Struct(
                "v1.OwnerReference",
                {
                    **dict.fromkeys(("apiVersion", "kind", "name"), "string"),
                    "uid": "types.UID",
                    **dict.fromkeys(("controller", "blockOwnerDeletion"), "bool"),
                },
            ),
        )
    }
)
_UNTAGGED: Final = "core."
"""Types whose fields have no names in JSON: messages call them as Go does."""
_INT64: Final = range(-(2**63), 2**63)
_WANTED: Final = MappingProxyType({"bool": bool, "int64": int})


def annotated_tolerations(notes: Mapping[str, str]) -> list[JsonObject]:
    """Return the tolerations in the annotations of a pod. Raises AnnotationError."""
    return _read(notes.get(TOLERATIONS), "[]core.Toleration") or []


def annotated_taints(notes: Mapping[str, str]) -> list[JsonObject]:
    """Return the taints in the annotations of a node. Raises AnnotationError."""
    return _read(notes.get(TAINTS), "[]core.Taint") or []


def avoided_pods(notes: Mapping[str, str]) -> list[JsonObject]:
    """Return what a node would rather not run. Raises AnnotationError."""
    read = _read(notes.get(AVOIDED_PODS), "v1.AvoidPods") or {}
    return read.get("preferAvoidPods") or []


def _read(text: str | None, kind: str) -> Any:  # noqa: ANN401 - any JSON
    if not text:
        return None
    try:
        value = read_json(text).value
    except JsonSyntaxError as error:
        raise AnnotationError(str(error)) from None
    return _fitted(value, kind, "Go value", ())


def _fitted(
    value: Any,  # noqa: ANN401 - any JSON
    kind: str,
    place: str,
    path: tuple[str, ...],
) -> Any:  # noqa: ANN401 - any JSON
    """Return a value as a Go type holds it; None for null. `path` leads there, in the words of
    Go."""
    if value is None:
        return None
    if kind == "time":
        return _time(_fitted(value, "string", place, path))
    if kind.startswith("[]") and isinstance(value, list):
        return [_fitted(item, kind[2:], place, path) or {} for item in value]
    struct = _STRUCTS.get(kind)
    if struct is not None and isinstance(value, dict):
        return _struct(value, struct, path)
    expected = _WANTED.get(kind, str)
    is_scalar = struct is None and not kind.startswith("[]")
    if is_scalar and value.__class__ is expected and (expected is not int or value in _INT64):
        return value
    text = json_kind(value)
    if (text, kind) == ("number", "int64"):
        text = f"number {json_text(value)}"
    raise AnnotationError(f"json: cannot unmarshal {text} into {place} of type {kind}")


def _struct(value: JsonObject, struct: _Struct, path: tuple[str, ...]) -> JsonDict:
    names = {name.lower(): name for name in struct.fields}
    result: JsonDict = {}
    for key, member in value.items():
        name = key if key in struct.fields else names.get(key.lower())
        if name is not None:
            text = name[0].upper() + name[1:] if struct.name.startswith(_UNTAGGED) else name
            position = (*path, text)
            place = f"Go struct field {struct.name.partition('.')[2]}.{'.'.join(position)}"
            fitted = _fitted(member, struct.fields[name], place, position)
            if fitted is not None:
                result[name] = fitted
    return result


def _time(text: str) -> str:
    try:
        return canonical_time(text)
    except TimeError as error:
        raise AnnotationError(str(error)) from None
