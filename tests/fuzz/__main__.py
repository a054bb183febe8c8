"""`python -m tests.fuzz [CAMPAIGN ...]`: random search.

    make fuzz                                           all three, five minutes
    python -m tests.fuzz expressions --count 1000000    for hours
    python -m tests.fuzz policies schemas --server https://127.0.0.1:6443 \\
        --ca-file ca.crt --token "$TOKEN"               a real API server decides
    python -m tests.fuzz writes --server ...            creates and updates, beside a real server
    python -m tests.fuzz kinds --server ...             the same of every kind, with all its fields
    python -m tests.fuzz applies --server ...           applies and patches by several managers
    python -m tests.fuzz policy-decisions --server ...  so are policy-writes, policy-values, types

Beside a real server, ours serves its release. Prints what disagrees, made as small as it goes.
Exits with 1 if anything did, with 2 if the server cannot be asked. The same seed gives the same
texts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Final

from celadon.apiserver.operation.runtime_config import feature_gates
from celadon.kube.releases import answering_as
from tests.fuzz import (
    applies,
    bodies,
    conversions,
    decisions,
    definitions,
    deletions,
    heads,
    identities,
    messages,
    nodes,
    operations,
    policy_decisions,
    policy_matches,
    policy_mutations,
    policy_values,
    policy_writes,
    reads,
    rights,
    scenarios,
    type_checks,
    variants,
    watches,
    webhook_calls,
    writes,
)
from tests.fuzz.servers import InProcess, OverHttps, Server, release_of

CAMPAIGNS = ("expressions", "policies", "schemas")
BESIDE: Mapping[str, writes.Campaign] = {
    "applies": applies.campaign,
    "bodies": bodies.campaign,
    "conversions": conversions.campaign,
    "definitions": definitions.campaign,
    "deletions": deletions.campaign,
    "heads": heads.campaign,
    "identities": identities.campaign,
    "kinds": writes.of_every_kind,
    "lives": deletions.lives,
    "messages": messages.campaign,
    "nodes": nodes.campaign,
    "operations": operations.campaign,
    "reads": reads.campaign,
    "rights": rights.campaign,
    "watches": watches.campaign,
    "webhooks": webhook_calls.campaign,
    "writes": writes.campaign,
    "policy-writes": policy_writes.campaign,
    "policy-decisions": policy_decisions.campaign,
    "policy-matches": policy_matches.campaign,
    "policy-mutations": policy_mutations.campaign,
    "policy-values": policy_values.campaign,
    "types": type_checks.campaign,
}
"""The campaigns that need a real server."""
_AT_END: Final = "at the end"
MAKERS = {"policies": scenarios.policy_scenario, "schemas": scenarios.schema_scenario}


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if set(options.campaigns) & set(BESIDE) and not options.server:
        parser.error("this is compared with what a real server says: name it with --server")
    try:
        return _search(options)
    except OSError as failure:
        sys.stderr.write(f"error: {failure}\n")
        return 2


def _search(options: argparse.Namespace) -> int:
    until = time.monotonic() + options.seconds if options.seconds else None
    found = 0
    for name in options.campaigns or CAMPAIGNS:
        left = None if until is None else max(0.0, until - time.monotonic())
        share = None if left is None else time.monotonic() + left / _remaining(options, name)
        done = 0
        for complaint in _campaign(name, options):
            done += 1
            if complaint:
                found += 1
                _write(f"\n{name}, seed {options.seed}: {complaint}")
            if found >= options.stop_after or (share is not None and time.monotonic() > share):
                break
        _write(f"{name}: {done} tried")
    _write(f"{found} disagreements")
    return 1 if found else 0


def _campaign(name: str, options: argparse.Namespace) -> Iterator[str]:
    """Complaints, one for each thing tried; empty where all agree."""
    if name == "expressions":
        for one in variants.campaign(options.seed, options.count):
            yield f"{one.text!r}\n    {one.details}" if one else ""
        return
    server = _server(options)
    if name in BESIDE:
        yield from _beside(name, server, options)
        return
    try:
        for other in decisions.campaign(server, MAKERS[name], options.seed, options.count):
            shown = json.dumps(other.scenario, ensure_ascii=False) if other else ""
            yield f"{shown}\n    {other.details}" if other else ""
    finally:
        server.close()


def _beside(name: str, server: Server, options: argparse.Namespace) -> Iterator[str]:
    """Complaints of a campaign beside a real server, with the fields of the release of that one."""
    release = release_of(server)
    without = options.disable_admission_plugins.split(",")
    gates = feature_gates(options.feature_gates, release)
    ours = InProcess(
        release,
        without=without,
        more=[*filter(None, options.enable_admission_plugins.split(","))],
        bare=options.bare,
        gates=gates,
        all_versions=not options.default_versions,
        authorizes_nodes=name == "nodes",
    )
    tried = BESIDE[name](ours, server, options.seed, options.count)
    try:
        while True:
            with answering_as(release):
                wrong = next(tried, _AT_END)
            if isinstance(wrong, str):
                return
            yield str(wrong or "")
    finally:
        ours.close()


def _remaining(options: argparse.Namespace, name: str) -> int:
    chosen = options.campaigns or list(CAMPAIGNS)
    return len(chosen) - chosen.index(name)


def _server(options: argparse.Namespace) -> Server:
    if not options.server:
        return InProcess()
    certificate = (options.client_certificate, options.client_key)
    return OverHttps(
        options.server,
        options.token,
        options.ca_file,
        certificate if all(certificate) else None,
        options.patience,
        options.audit_log,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "campaigns", nargs="*", choices=[[], *CAMPAIGNS, *BESIDE], metavar="CAMPAIGN"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--count", type=int, default=1_000_000, metavar="N", help="of each")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long")
    parser.add_argument("--stop-after", type=int, default=20, metavar="N", help="disagreements")
    real = parser.add_argument_group("a real Kubernetes API server, instead of ours")
    real.add_argument("--server", default="", metavar="URL")
    real.add_argument("--token", default="", help="of somebody who may do everything")
    real.add_argument("--client-certificate", default="", metavar="FILE")
    real.add_argument("--client-key", default="", metavar="FILE")
    real.add_argument("--ca-file", default="", metavar="FILE")
    real.add_argument("--audit-log", default="", metavar="FILE", help="that it writes")
    real.add_argument("--disable-admission-plugins", default="", metavar="NAMES", help="not there")
    real.add_argument("--enable-admission-plugins", default="", metavar="NAMES", help="there, too")
    real.add_argument("--feature-gates", default="", metavar="GATES", help="what it is told")
    real.add_argument(
        "--default-versions", action="store_true", help="it serves no more than by default"
    )
    real.add_argument("--bare", action="store_true", help="it has no controllers beside it")
    real.add_argument(
        "--patience", type=float, default=2.0, metavar="S", help="until policies are in effect"
    )
    return parser


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
