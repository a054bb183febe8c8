"""What is wrong with values of kube-apiserver's flags, in its own words.

A value is read as its flag's type by spf13/pflag and Go's `strconv` and `time`; what cannot be read
ends the program at once. What can be read but not be meant is told of all flags together
(k8s.io/apiserver `pkg/server/options`). What options of `celadon serve` check themselves is left to
them. Like the program, this module imports nothing of Celadon.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

# --- Types -------------------------------------------------------------------

_INTEGERS: Final = """
audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-throttle-burst audit-log-maxage
audit-log-maxbackup audit-log-maxsize audit-log-truncate-max-batch-size
audit-log-truncate-max-event-size audit-webhook-batch-buffer-size audit-webhook-batch-max-size
audit-webhook-batch-throttle-burst audit-webhook-truncate-max-batch-size
audit-webhook-truncate-max-event-size default-not-ready-toleration-seconds
default-unreachable-toleration-seconds delete-collection-workers http2-max-streams-per-connection
kubernetes-service-node-port lease-reuse-duration-seconds max-connection-bytes-per-sec
max-mutating-requests-inflight max-requests-inflight min-request-timeout secure-port
"""
_DURATIONS: Final = """
audit-log-batch-max-wait audit-webhook-batch-max-wait audit-webhook-initial-backoff
authentication-token-webhook-cache-ttl authorization-webhook-cache-authorized-ttl
authorization-webhook-cache-unauthorized-ttl coordinated-leadership-lease-duration
coordinated-leadership-renew-deadline coordinated-leadership-retry-period etcd-compaction-interval
etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout
etcd-readycheck-timeout event-ttl kubelet-timeout livez-grace-period log-flush-frequency
request-timeout service-account-max-token-expiration shutdown-delay-duration
shutdown-watch-termination-grace-period storage-initialization-timeout
"""

_LARGEST: Final = (1 << 63) - 1
_NUMBER: Final = re.compile(
    r"[+-]?(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO]?(_?[0-7])*|[1-9](_?[0-9])*)\Z"
)
_DECIMAL: Final = re.compile(r"[+-]?[0-9]+\Z")
_STEP: Final = re.compile(r"([0-9]*)(\.[0-9]*)?([^0-9.]*)")
_UNITS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_QUANTITY: Final = re.compile(r"([+-]?[0-9.]++)([eEinumkKMGTP]*+[-+]?[0-9]*+)\Z")


class ValueRefused(Exception):
    """Says why a value is none of its flag's type."""


def quoted(text: str) -> str:
    """Return the text as Go's `%q` writes it, as far as words of a command line need it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _refused(function: str, text: str, why: str = "invalid syntax") -> ValueRefused:
    return ValueRefused(f"strconv.{function}: parsing {quoted(text)}: {why}")


def integer(text: str) -> int:
    """Read a number as `strconv.ParseInt` does, whatever its base. Raises ValueRefused."""
    if not _NUMBER.match(text):
        raise _refused("ParseInt", text)
    digits = text.lstrip("+-").replace("_", "")
    is_octal = digits.isdigit() and digits[0] == "0"
    value = int(digits, 8 if is_octal else 0)
    if value > _LARGEST + text.startswith("-"):
        raise _refused("ParseInt", text, "value out of range")
    return -value if text.startswith("-") else value


def duration(text: str) -> float:
    """Return the seconds of a text as Go's `time.ParseDuration` reads it. Raises ValueRefused."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    seconds = 0.0
    while True:
        whole, fraction, unit = _parts(rest)
        if not whole and len(fraction) < len(".0"):
            raise ValueRefused(f"time: invalid duration {quoted(text)}")
        if not unit:
            raise ValueRefused(f"time: missing unit in duration {quoted(text)}")
        if unit not in _UNITS:
            raise ValueRefused(f"time: unknown unit {quoted(unit)} in duration {quoted(text)}")
        seconds += float(f"{whole or 0}{fraction}") * _UNITS[unit]
        rest = rest[len(whole) + len(fraction) + len(unit) :]
        if not rest:
            return -seconds if text.startswith("-") else seconds


def _parts(text: str) -> tuple[str, str, str]:
    found = _STEP.match(text)
    return (found[1], found[2] or "", found[3]) if found else ("", "", "")


def switch(text: str) -> bool:
    """Read a truth value as `strconv.ParseBool` does. Raises ValueRefused."""
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise _refused("ParseBool", text)


def number(text: str) -> float:
    """Read a number with a fraction. Raises ValueRefused."""
    try:
        if text == text.strip() and "_" not in text:
            return float(text)
    except ValueError:
        pass
    raise _refused("ParseFloat", text)


def address(text: str) -> None:
    """Read an address of a machine. Raises ValueRefused."""
    # late: the start asks for it, `--help` does not
    import ipaddress

    try:
        if text.strip():
            ipaddress.ip_address(text.strip())
    except ValueError:
        raise ValueRefused(f"failed to parse IP: {quoted(text.strip())}") from None


def port_range(text: str) -> None:
    """Read ports such as `30000-32767`. Raises ValueRefused."""
    value = text.strip()
    low, sign, high = re.fullmatch(r"([^-+]*)([-+]?)(.*)", value, re.DOTALL).groups()  # type: ignore[union-attr]
    if not value:
        return
    if "-" in value and "+" in value:
        raise ValueRefused(f"unable to parse port range: {value}")
    for one in (low, high) if sign else (low,):
        if not _DECIMAL.match(one):
            raise _refused("Atoi", one)
    first = int(low)
    last = first if not sign else int(high) + (first if sign == "+" else 0)
    if max(first, last) > 65535:
        raise ValueRefused(f"the port range cannot be greater than 65535: {value}")
    if last < first:
        raise ValueRefused(f"end port cannot be less than start port: {value}")


def _pair(text: str, message: str) -> None:
    for one in text.split(","):
        if "=" not in one:
            raise ValueRefused(message.format(one, quoted(one)))


def labels(text: str) -> None:
    """Read `key=value`, several with commas between them. Raises ValueRefused."""
    _pair(text, "{0} must be formatted as key=value")


def claim(text: str) -> None:
    """Read a claim that a token must have. Raises ValueRefused."""
    _pair(text, "malformed pair, expect string=string")


def patterns(text: str) -> None:
    """Read how much is logged of which files. Raises ValueRefused."""
    if text:
        _pair(text, "{1} does not have the pattern=N format")


def certificate_pair(text: str) -> None:
    """Read the files of a certificate and its key, and the names it is for. Raises ValueRefused."""
    if "," not in text.partition(":")[0]:
        raise ValueRefused("expected comma separated certificate and key file paths")


def quantity(text: str) -> None:
    """Read an amount of bytes. Raises ValueRefused."""
    if not _QUANTITY.match(text):
        raise ValueRefused(
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )


def level(text: str) -> None:
    """Read how much is logged. Raises ValueRefused."""
    if not re.fullmatch("[0-9]+", text):
        raise _refused("ParseUint", text)


TYPES: Final[Mapping[str, Callable[[str], object]]] = {
    **dict.fromkeys(_INTEGERS.split(), integer),
    **dict.fromkeys(_DURATIONS.split(), duration),
    **dict.fromkeys(
        ("audit-log-batch-throttle-qps", "audit-webhook-batch-throttle-qps", "goaway-chance"),
        number,
    ),
    **dict.fromkeys(("advertise-address", "bind-address"), address),
    **dict.fromkeys(("log-json-info-buffer-size", "log-text-info-buffer-size"), quantity),
    "allow-metric-labels": labels,
    "oidc-required-claim": claim,
    "service-node-port-range": port_range,
    "tls-sni-cert-key": certificate_pair,
    "v": level,
    "vmodule": patterns,
}
"""How values are read of flags that are neither texts nor switches."""


def unreadable(name: str, value: str, *, is_switch: bool) -> str:
    """Return why a value cannot be read, in pflag's words; empty if it can."""
    read = switch if is_switch else TYPES.get(name)
    if read is None:
        return ""
    try:
        read(value)
    except ValueRefused as error:
        shown = "-v, --v" if name == "v" else f"--{name}"
        return f"invalid argument {quoted(value)} for {quoted(shown)} flag: {error}"
    return ""


# --- What cannot be meant ----------------------------------------------------

_NOT_NEGATIVE: Final = {
    "livez-grace-period": "--livez-grace-period can not be a negative value",
    "max-mutating-requests-inflight": "--max-mutating-requests-inflight can not be negative value",
    "max-requests-inflight": "--max-requests-inflight can not be negative value",
    "min-request-timeout": "--min-request-timeout can not be negative value",
    "request-timeout": "--request-timeout can not be negative value",
    "shutdown-delay-duration": "--shutdown-delay-duration can not be negative value",
    "shutdown-watch-termination-grace-period": (
        "shutdown-watch-termination-grace-period, if provided, can not be a negative value"
    ),
    "storage-initialization-timeout": "--storage-initialization-timeout can not be negative value",
}
_MEDIA_TYPES: Final = (
    "application/json",
    "application/vnd.kubernetes.protobuf",
    "application/yaml",
)
_TLS_VERSIONS: Final = ("", "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13")
_MOST_GOAWAY: Final = 0.02
_OVERRIDES: Final = (
    "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers "
    "are URLs, semicolon separated"
)


def impossible(flags: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what is wrong with values that can be read."""
    last = {name: values[-1] for name, values in flags.items()}
    for name, message in _NOT_NEGATIVE.items():
        if name in last and float(TYPES[name](last[name])) < 0:  # type: ignore[arg-type]
            yield message
    if not 0 <= number(last.get("goaway-chance", "0")) <= _MOST_GOAWAY:
        yield "--goaway-chance can not be less than 0 or greater than 0.02"
    if last.get("storage-backend", "") not in ("", "etcd3"):
        yield (
            "--storage-backend invalid, allowed values: etcd3. If not specified, it will default "
            "to 'etcd3'"
        )
    media = last.get("storage-media-type", _MEDIA_TYPES[0])
    if media not in _MEDIA_TYPES:
        types = ", ".join(_MEDIA_TYPES)
        yield f"--storage-media-type {quoted(media)} invalid, allowed values: {types}"
    version = last.get("tls-min-version", "")
    if version not in _TLS_VERSIONS:
        yield f"unknown tls version {quoted(version)}"
    form = last.get("logging-format", "text")
    if form not in ("text", "json"):
        yield f"format: Invalid value: {quoted(form)}: Unsupported log format"
    yield from _node_port(integer(last.get("kubernetes-service-node-port", "0")))
    for one in ",".join(flags.get("watch-cache-sizes", ())).split(","):
        if one and one.count("#") != 1:
            yield f"invalid value of watch cache size: {one}"
    for one in ",".join(flags.get("etcd-servers-overrides", ())).split(","):
        if one and one.count("#") != 1:
            yield _OVERRIDES


def _node_port(port: int) -> Iterator[str]:
    if not 0 <= port <= 65535:
        yield (
            f"--kubernetes-service-node-port {port} must be between 0 and 65535, inclusive. If 0, "
            "the Kubernetes master service will be of type ClusterIP"
        )
