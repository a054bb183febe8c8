"""The stand-in for kube-apiserver: flags of kube-apiserver in, `celadon serve` out.

A program of two lines in the folder of assets calls `main` with the release of that folder. The
process that a test starts is the server itself: it can be told to end, or be killed, without
anything left behind. `--help` is asked for before each start, so nothing is loaded for it that a
server needs; not even Python's `site` is (`python -S`), which finds installed packages.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

# --- Flags -------------------------------------------------------------------
#
# What the flags of kube-apiserver mean to `celadon serve`.
#
# Each flag is one of five kinds. Those of `PASSED` have an option of `serve` that means the same,
# and those that `serve_arguments` looks at one that means something similar. `REFUSED` would
# decide who gets in or who may do what, in ways that Celadon does not have: tests would pass or
# fail for the wrong reason, so the program does not start. `WITHOUT_EFFECT` are told of in a
# warning, since somebody could see the difference. All others of kube-apiserver are about how it
# works inside (etcd, caches, logs, batches) and are accepted in silence. What is no flag of
# kube-apiserver at all gets a warning, once.
#
# Flags are read as spf13/pflag reads them; names are those of k8s.io/kubernetes
# `cmd/kube-apiserver/app/options` from 1.24 to 1.36. This module imports little of Celadon, so
# that `--help` answers at once.

PASSED: Final = (
    "admission-control-config-file",
    "anonymous-auth",
    "audit-log-maxage",
    "audit-log-maxbackup",
    "audit-log-maxsize",
    "audit-policy-file",
    "client-ca-file",
    "data",
    "disable-admission-plugins",
    "enable-admission-plugins",
    "enable-priority-and-fairness",
    "event-ttl",
    "kubeconfig-out",
    "manifests",
    "max-mutating-requests-inflight",
    "max-requests-inflight",
    "min-request-timeout",
    "proxy-client-cert-file",
    "proxy-client-key-file",
    "request-timeout",
    "requestheader-allowed-names",
    "requestheader-client-ca-file",
    "requestheader-extra-headers-prefix",
    "requestheader-group-headers",
    "requestheader-uid-headers",
    "requestheader-username-headers",
    "service-account-issuer",
    "service-account-key-file",
    "service-account-signing-key-file",
    "shutdown-delay-duration",
    "token-auth-file",
    "webhook-service",
)
"""Flags that options of `serve` have the names of. `--data`, `--kubeconfig-out`, `--manifests` and
`--webhook-service` are of Celadon only."""

TRANSLATED: Final = (
    "audit-log-path",
    "authorization-mode",
    "bind-address",
    "cert-dir",
    "controllers",
    "emulated-version",
    "feature-gates",
    "insecure-port",
    "runtime-config",
    "secure-port",
    "service-cluster-ip-range",
    "tls-cert-file",
    "tls-private-key-file",
    "v",
)
"""Flags that `serve_arguments` looks at; `--controllers` is of Celadon only."""

REFUSED: Final[Mapping[str, str]] = {
    "authentication-config": "who asks is known by certificates and tokens only",
    "authentication-token-webhook-config-file": "tokens are not looked at by webhooks",
    "authorization-config": "only `--authorization-mode` with RBAC or AlwaysAllow is there",
    "authorization-policy-file": "there are no policies of ABAC",
    "authorization-webhook-config-file": "webhooks do not authorize",
    "enable-bootstrap-token-auth": "bootstrap tokens let nobody in",
    "oidc-issuer-url": "there is no OpenID Connect",
}
"""Flags that cannot be honoured, and why."""

WITHOUT_EFFECT: Final = (
    "admission-control",
    "api-audiences",
    "audit-webhook-config-file",
    "cors-allowed-origins",
    "default-not-ready-toleration-seconds",
    "default-unreachable-toleration-seconds",
    "service-account-extend-token-expiration",
    "service-account-jwks-uri",
    "service-account-max-token-expiration",
    "service-account-signing-endpoint",
    "service-node-port-range",
    "tls-sni-cert-key",
    "tracing-config-file",
)
"""Flags whose effect somebody could miss."""

_SWITCHES: Final = """
aggregator-reject-forwarding-redirect allow-privileged alsologtostderr anonymous-auth
audit-log-batch-throttle-enable audit-log-compress audit-log-truncate-enabled
audit-webhook-batch-throttle-enable audit-webhook-truncate-enabled contention-profiling
disable-http2-serving emulation-forward-compatible enable-aggregator-routing
enable-bootstrap-token-auth enable-garbage-collector enable-logs-handler
enable-priority-and-fairness encryption-provider-config-automatic-reload log-json-split-stream
log-text-split-stream logtostderr one-output permit-address-sharing permit-port-sharing
profiling runtime-config-emulation-forward-compatible send-retry-after-while-not-ready-once
service-account-extend-token-expiration service-account-lookup shutdown-send-retry-after
skip-headers skip-log-headers watch-cache
"""

SWITCHES: Final = frozenset(_SWITCHES.split())
"""Flags that may stand alone; a word behind them is no value of theirs."""

_SILENT: Final = """
add-dir-header advertise-address allow-metric-labels allow-metric-labels-manifest
apiserver-count audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait
audit-log-batch-throttle-burst audit-log-batch-throttle-qps audit-log-format audit-log-mode
audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-log-version
audit-webhook-batch-buffer-size audit-webhook-batch-max-size audit-webhook-batch-max-wait
audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-qps
audit-webhook-initial-backoff audit-webhook-mode audit-webhook-truncate-max-batch-size
audit-webhook-truncate-max-event-size audit-webhook-version
authentication-token-webhook-cache-ttl authentication-token-webhook-version
authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
authorization-webhook-version cloud-config cloud-provider cloud-provider-gce-l7lb-src-cidrs
cloud-provider-gce-lb-src-cidrs coordinated-leadership-lease-duration
coordinated-leadership-renew-deadline coordinated-leadership-retry-period debug-socket-path
default-watch-cache-size delete-collection-workers disabled-metrics egress-selector-config-file
encryption-provider-config endpoint-reconciler-type etcd-cafile etcd-certfile
etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval
etcd-healthcheck-timeout etcd-keyfile etcd-prefix etcd-readycheck-timeout etcd-servers
etcd-servers-overrides external-hostname goaway-chance http2-max-streams-per-connection
insecure-bind-address kubelet-certificate-authority kubelet-client-certificate
kubelet-client-key kubelet-port kubelet-preferred-address-types kubelet-read-only-port
kubelet-timeout kubernetes-service-node-port lease-reuse-duration-seconds livez-grace-period
log-backtrace-at log-dir log-file log-file-max-size log-flush-frequency
log-json-info-buffer-size log-text-info-buffer-size logging-format master-service-namespace
max-connection-bytes-per-sec min-compatibility-version oidc-ca-file oidc-client-id
oidc-groups-claim oidc-groups-prefix oidc-required-claim oidc-signing-algs oidc-username-claim
oidc-username-prefix peer-advertise-ip peer-advertise-port peer-ca-file
show-hidden-metrics-for-version
shutdown-watch-termination-grace-period stderrthreshold storage-backend
storage-initialization-timeout storage-media-type strict-transport-security-directives
target-ram-mb tls-cipher-suites tls-curve-preferences tls-min-version vmodule watch-cache-sizes
"""

SILENT: Final = frozenset(_SILENT.split())
"""Flags about how kube-apiserver works inside."""

_ABSENT_SINCE_1_24: Final = ("insecure-bind-address", "insecure-port")
"""Test servers look into `--help` for them, and set them where they stand."""

KNOWN: Final = SWITCHES | SILENT | {*PASSED, *TRANSLATED, *REFUSED, *WITHOUT_EFFECT}

DEFAULT_PORT: Final = "6443"
LOOPBACK: Final = "127.0.0.1"
MOST_VERBOSE: Final = 5
"""Of `serve`; kube-apiserver goes up to 10."""


class FlagError(Exception):
    """Says what is wrong with the flags."""


def read_flags(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each flag, in their order; a flag that stands alone has the value
    `true`. The word behind an unknown flag is its value unless it is a flag. Raises FlagError for
    words that belong to no flag."""
    flags: dict[str, list[str]] = {}
    rest = list(words)
    operands: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("_", "-")
        if not word.startswith("--") and name.startswith("v") and name[1:].isdigit():
            name, value, equals = "v", name[1:], "="
        if not equals and name not in SWITCHES:
            if name in KNOWN and not rest:
                raise FlagError(f"flag needs an argument: --{name}")
            if name in KNOWN or (rest and not rest[0].startswith("-")):
                value, equals = rest.pop(0), "="
        value = value if equals else "true"
        reason = unreadable(name, value, is_switch=name in SWITCHES)
        if reason:
            raise FlagError(reason)
        flags.setdefault(name, []).append(value)
    for word in operands:
        if word:
            text = " ".join(map(quoted, operands))
            raise FlagError(f'"kube-apiserver" does not take any arguments, got [{text}]')
    return flags


def warnings_about(flags: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a text for each flag that is not known, or would be missed."""
    for name in flags:
        if name not in KNOWN:
            yield f"kube-apiserver has no flag `--{name}` that is known here: ignored"
        elif name in WITHOUT_EFFECT:
            yield f"`--{name}` has no effect: Celadon has nothing like it"


SIMULATED_NODES: Final = "CELADON_ENVTEST_SIMULATE"
"""An environment variable: how many nodes a cluster has that comes alive. Without it there are
none, and no workloads run."""


def serve_arguments(
    flags: Mapping[str, Sequence[str]], release: str, controllers: str = "", nodes: str = ""
) -> list[str]:
    """Arguments of `celadon serve` for these flags. `release` is that of the folder; `controllers`
    are those that run if the flags do not say. With a number of `nodes` it is a cluster that comes
    alive, of which all controllers run unless others are named. Raises FlagError for what cannot
    be honoured."""
    if nodes and not (nodes.isascii() and nodes.isdigit()):
        raise FlagError(f"{SIMULATED_NODES}={nodes}: expected a number of nodes")
    last = {name: values[-1] for name, values in flags.items()}
    wrong = tuple(impossible(flags))
    if wrong:
        raise FlagError(wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")
    for name, reason in REFUSED.items():
        if last.get(name, "false") not in ("", "false"):
            raise FlagError(f"`--{name}` cannot be honoured: {reason}")
    if last.get("insecure-port", "0") not in ("", "0"):
        raise FlagError("`--insecure-port` cannot be honoured: since 1.24 there is only TLS")
    arguments = ["--listen", _address(last), "--kubernetes-version", release]
    arguments += [*_emulated(last), *_certificates(last)]
    for name in PASSED:
        values = flags.get(name, ())
        if name in SWITCHES:
            values = ["true" if switch(value) else "false" for value in values[-1:]]
        arguments += [f"--{name}={value}" for value in values if value]
    if nodes:
        arguments += ["--simulate", "workloads", "--nodes", nodes]
        controllers = controllers or "*"
    arguments += [
        f"--controllers={last.get('controllers', controllers)}",
        f"--authorization-mode={_authorization(last)}",
        f"--runtime-config={','.join(flags.get('runtime-config', ()))}",
        *_gates(flags.get("feature-gates", ())),
        *_audit_log(last),
        f"--verbosity={_verbosity(last)}",
    ]
    addresses = last.get("service-cluster-ip-range", "")
    return [*arguments, *_service_range(addresses)]


def _address(last: Mapping[str, str]) -> str:
    """Return what to listen on. Without `--bind-address` that is this machine alone; port 0 is any
    that is free, which kube-apiserver refuses."""
    port = integer(last.get("secure-port", DEFAULT_PORT))
    if not 0 <= port <= 65535:
        raise FlagError(f"--secure-port {port} must be between 0 and 65535, inclusive")
    host = last.get("bind-address", LOOPBACK) or LOOPBACK
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _emulated(last: Mapping[str, str]) -> Iterator[str]:
    """`--emulated-version` may name another release than the folder's: `1.33` or `kube=1.33`."""
    for text in last.get("emulated-version", "").split(","):
        component, _, version = text.rpartition("=")
        if version and component in ("", "kube"):
            yield f"--emulated-version={version}"


def _certificates(last: Mapping[str, str]) -> Iterator[str]:
    """Yield those that are named, else those that stand in the folder of certificates."""
    certificate, key = last.get("tls-cert-file", ""), last.get("tls-private-key-file", "")
    folder = last.get("cert-dir", "")
    if not (certificate or key) and folder:
        paths = [os.path.join(folder, f"apiserver.{kind}") for kind in ("crt", "key")]
        if all(map(os.path.isfile, paths)):
            certificate, key = paths
    if certificate:
        yield f"--tls-cert-file={certificate}"
    if key:
        yield f"--tls-private-key-file={key}"


_MODES: Final = ("ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook")
_KNOWN_MODES: Final = ("AlwaysAllow", "Node", "RBAC")


def _authorization(last: Mapping[str, str]) -> str:
    """Return the mode of authorization. As with kube-apiserver, everybody may do everything if no
    mode is named; roles count even if only nodes were named."""
    modes = last.get("authorization-mode", "AlwaysAllow").split(",")
    for mode in modes:
        if mode not in _MODES:
            raise FlagError(f"authorization-mode {quoted(mode)} is not a valid mode")
        if mode not in _KNOWN_MODES:
            raise FlagError(
                f"`--authorization-mode={mode}` cannot be honoured: only RBAC, Node and "
                "AlwaysAllow are there"
            )
    if len({*modes}) < len(modes):
        text = " ".join(map(quoted, modes))
        raise FlagError(f"authorization-mode [{text}] has mode specified more than once")
    if "AlwaysAllow" in modes:
        return "AlwaysAllow"
    return "Node,RBAC" if "Node" in modes else "RBAC"


def _gates(values: Sequence[str]) -> Iterator[str]:
    """Gates may have the component before them: `kube:NAME=true`."""
    gates = [text.strip() for value in values for text in value.split(",")]
    ours = ",".join(gate.removeprefix("kube:") for gate in gates if gate)
    if ours:
        yield f"--feature-gates={ours}"


def _audit_log(last: Mapping[str, str]) -> Iterator[str]:
    """Without a policy kube-apiserver records nothing."""
    path = last.get("audit-log-path", "")
    if path and last.get("audit-policy-file"):
        if path == "-":
            raise FlagError("`--audit-log-path=-` cannot be honoured: name a file")
        yield f"--audit-log={path}"


def _verbosity(last: Mapping[str, str]) -> int:
    return min(int(last.get("v", "0")), MOST_VERBOSE)


def _service_range(text: str) -> Iterator[str]:
    """Yield the option for the addresses of Services. Of two ranges the one of IPv4 counts:
    Services have addresses of that family only."""
    ranges = [text.strip() for text in text.split(",") if text.strip()]
    chosen = [text for text in ranges if ":" not in text] or ranges
    if chosen:
        yield f"--service-cluster-ip-range={chosen[0]}"


def help_text(release: str) -> str:
    """Return all flags that do something or are accepted, each at the beginning of a line."""
    names = sorted(KNOWN - {*_ABSENT_SINCE_1_24, *REFUSED})
    lines = "\n".join(f"      --{name}" for name in names)
    return (
        f"Celadon's stand-in for kube-apiserver {release}: `celadon serve` with the flags of "
        "kube-apiserver.\n\nUsage:\n  kube-apiserver [flags]\n\nFlags:\n\n"
        f"{lines}\n\nWhat each of them does stands in `celadon envtest --help` and in the "
        "documentation.\n"
    )


# --- The program -------------------------------------------------------------

CONTROLLERS: Final = "CELADON_ENVTEST_CONTROLLERS"
"""An environment variable: the controllers that run. Without it there are none, as in envtest."""

HELP: Final = ("-h", "--help")
FAILED: Final = 1
"""Exit code of kube-apiserver for whatever is wrong."""


def main(release: str, words: Sequence[str] | None = None) -> int:
    """Serve until told to end; returns the exit code of kube-apiserver for what it was told."""
    words = sys.argv[1:] if words is None else words
    if any(word in HELP for word in words):
        return _say(help_text(release))
    if any(word.partition("=")[0] == "--version" for word in words):
        # late: `--help` and complaints about flags come without it
        from celadon.kube.releases import PATCHES

        return _say(f"Kubernetes v{release}.{PATCHES.get(release, 0)}\n")
    if sys.flags.no_site:
        import site

        site.main()
    from celadon.cli import output

    try:
        flags = read_flags(words)
        controllers, nodes = (os.environ.get(name, "") for name in (CONTROLLERS, SIMULATED_NODES))
        arguments = serve_arguments(flags, release, controllers, nodes)
    except FlagError as error:
        output.complain(f"error: {error}")
        return FAILED
    for warning in warnings_about(flags):
        output.complain(f"warning: {warning}")
    from celadon.cli.main import main as celadon

    return FAILED if celadon(["serve", *arguments], is_process=True) else 0


def _say(text: str) -> int:
    """Write without what writes for commands: that would take longer to load than all the rest."""
    if sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()
    return 0


# --- Values of flags ---------------------------------------------------------
#
# What is wrong with values of flags, in the words of kube-apiserver.
#
# A value is read as its flag's type by spf13/pflag and Go's `strconv` and `time`; what cannot be
# read ends the program at once. What can be read but not be meant is told of all flags together
# (k8s.io/apiserver `pkg/server/options`). What options of `celadon serve` check themselves is left
# to them.


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


def _refused(function: str, text: str, reason: str = "invalid syntax") -> ValueRefused:
    return ValueRefused(f"strconv.{function}: parsing {quoted(text)}: {reason}")


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
    match = _STEP.match(text)
    return (match[1], match[2] or "", match[3]) if match else ("", "", "")


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
    for bound in (low, high) if sign else (low,):
        if not _DECIMAL.match(bound):
            raise _refused("Atoi", bound)
    first = int(low)
    last = first if not sign else int(high) + (first if sign == "+" else 0)
    if max(first, last) > 65535:
        raise ValueRefused(f"the port range cannot be greater than 65535: {value}")
    if last < first:
        raise ValueRefused(f"end port cannot be less than start port: {value}")


def _pair(text: str, message: str) -> None:
    for word in text.split(","):
        if "=" not in word:
            raise ValueRefused(message.format(word, quoted(word)))


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
    reader = switch if is_switch else TYPES.get(name)
    if reader is None:
        return ""
    try:
        reader(value)
    except ValueRefused as error:
        text = "-v, --v" if name == "v" else f"--{name}"
        return f"invalid argument {quoted(value)} for {quoted(text)} flag: {error}"
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
    for text in ",".join(flags.get("watch-cache-sizes", ())).split(","):
        if text and text.count("#") != 1:
            yield f"invalid value of watch cache size: {text}"
    for text in ",".join(flags.get("etcd-servers-overrides", ())).split(","):
        if text and text.count("#") != 1:
            yield _OVERRIDES


def _node_port(port: int) -> Iterator[str]:
    if not 0 <= port <= 65535:
        yield (
            f"--kubernetes-service-node-port {port} must be between 0 and 65535, inclusive. If 0, "
            "the Kubernetes master service will be of type ClusterIP"
        )
