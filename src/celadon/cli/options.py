"""Values of options, for argparse, and options that several commands have."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterable
from typing import Final

from celadon.late_patterns import late_pattern


def count(text: str) -> int:
    """Read a number from 0 on."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0 on")
    return int(text)


def seconds(text: str) -> float:
    """Return a duration as Go writes it, in seconds."""
    from celadon.cel.value_functions import parse_duration  # late: few options are durations

    duration = parse_duration(text)
    if duration is None or duration.nanoseconds < 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a duration like 30s or 1m30s")
    return duration.nanoseconds / 1e9


def add_expected(parser: argparse.ArgumentParser) -> None:
    """Declare `--expect`."""
    parser.add_argument(
        "--expect",
        choices=("admit", "deny", "warn", "audit", "error", "noMatch", "invalid"),
        default="",
        help="the verdict on AdmissionReviews that have no response",
    )


# --- options of several commands ------------------------------------------------------------------

POLICIES: Final = "policies, bindings and what they look up"


def add_files(group: argparse._ActionsContainer, subject: str, dest: str = "files") -> None:
    """Declare the option; `subject` says what is in the files."""
    group.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="PATH",
        dest=dest,
        help=f"{subject}; may be repeated",
    )


def add_proof_limits(group: argparse._ActionsContainer) -> None:
    """Declare `--items` and `--timeout`, the bounds of what a solver is asked."""
    group.add_argument(
        "--items",
        type=count,
        default=2,
        metavar="N",
        help="items of lists and maps to look at where a proof does not say how many suffice "
        "(default: 2)",
    )
    group.add_argument(
        "--timeout",
        type=count,
        default=10,
        metavar="SECONDS",
        help="how long one answer may take (default: 10)",
    )


def add_cache(group: argparse._ActionsContainer, about: str) -> None:
    """Declare `--cache`, a folder of answers (`celadon.cli.celadon_documents`)."""
    group.add_argument("--cache", default="", metavar="FOLDER", help=about)


def add_exclude(group: argparse._ActionsContainer) -> None:
    """Declare `--exclude`."""
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out files of folders and globs that match, or whose folder does; may be "
        "repeated",
    )


def add_certificate(group: argparse._ActionsContainer) -> None:
    """Declare the options with the certificate of a server."""
    from pathlib import Path  # late: few commands serve

    group.add_argument(
        "--tls-cert-file",
        type=Path,
        metavar="FILE",
        help="the server's certificate (default: one is made)",
    )
    group.add_argument(
        "--tls-private-key-file", type=Path, metavar="FILE", help="the key of that certificate"
    )


def add_plain_http(group: argparse._ActionsContainer) -> None:
    """Declare the options of a server without TLS."""
    group.add_argument("--plain-http", action="store_true", help="no TLS; on loopback only")
    group.add_argument("--force-plain-http", action="store_true", help="no TLS, on any address")


def asks_cluster(options: argparse.Namespace) -> bool:
    """Return whether the source is a cluster."""
    return bool(options.from_cluster or options.kubeconfig or options.context)


def lacking_client() -> str:
    """Return what to tell whoever cannot ask a cluster for want of a package; empty otherwise."""
    if importlib.util.find_spec("httpcore") is None:
        return "a cluster needs a package more: pip install 'celadon[serve]'"
    return ""


# --- Release option ----------------------------------------------------------
#
# `--kubernetes-version`: the release whose rules apply.

VERSIONS: Final = tuple(f"1.{minor}" for minor in range(30, 38))
"""All that are known, oldest first."""

DEFAULT_VERSION: Final = "1.36"
_VERSION: Final = late_pattern(r"v?(1\.\d+)(?:\..*)?")


def kubernetes_version(text: str) -> str:
    """`1.36` from `1.36`, `v1.36` or `v1.36.2`; argparse shows the error."""
    match = _VERSION.fullmatch(text)
    if match is None or match[1] not in VERSIONS:
        raise argparse.ArgumentTypeError(
            f"unknown version `{text}`, expected {VERSIONS[0]} to {VERSIONS[-1]}"
        )
    return match[1]


def kubernetes_versions(text: str) -> tuple[str, ...]:
    """Read several releases, the oldest first, from `1.31,1.34` or `1.31..1.36`; argparse shows
    errors."""
    result: set[int] = set()
    for part in text.split(","):
        first, dots, last = part.partition("..")
        begin = VERSIONS.index(kubernetes_version(first))
        end = VERSIONS.index(kubernetes_version(last)) if dots else begin
        if end < begin:
            raise argparse.ArgumentTypeError(f"`{part}`: {last} is older than {first}")
        result |= set(range(begin, end + 1))
    return tuple(VERSIONS[number] for number in sorted(result))


def add_version(
    group: argparse._ActionsContainer,
    default: str | None = DEFAULT_VERSION,
    *,
    several: bool = False,
    usual: str = DEFAULT_VERSION,
) -> None:
    """Declare the option. A command that asks the configuration, too, has None as the default, to
    see whether the option was given. With `several`, it is a tuple of releases. `usual` is shown as
    the default."""
    group.add_argument(
        "--kubernetes-version",
        type=kubernetes_versions if several else kubernetes_version,
        default=default,
        metavar="VERSION",
        help=f"{VERSIONS[0]} to {VERSIONS[-1]} (default: {usual})"
        + ("; several, as 1.31,1.34 or 1.31..1.36, show what differs" if several else ""),
    )


# --- Server packages ---------------------------------------------------------
#
# What servers need beside the standard library: `celadon[serve]`, and `celadon[etcd]`.

_SERVING: Final = ("cryptography", "msgspec", "uvloop")
_ON_ETCD: Final = ("pycurl", "google.protobuf")


def missing_package(*, on_etcd: bool = False) -> str:
    """Return what to tell whoever has installed Celadon without them; empty if all are there."""
    extras = (("serve", _SERVING), ("etcd", _ON_ETCD if on_etcd else ()))
    for extra, names in extras:
        for name in names:
            if not _is_there(name):
                return f"`{name}` is not installed: pip install 'celadon[{extra}]'"
    return ""


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of the package it is in
        return False


# --- Suggestions -------------------------------------------------------------
#
# `did you mean`: the closest of some names.


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """`, did you mean …?` with the most similar name, or nothing."""
    import difflib  # loaded only when something is wrong

    lowered = {name.lower(): name for name in names}
    similar = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return f", did you mean `{lowered[similar[0]]}`?" if similar else ""
