"""The options of `celadon audit` that are about fleets, and what they come to."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from celadon.cli.reading.problems import Problem
from celadon.cli.report.report_model import FLEET

if TYPE_CHECKING:
    from celadon.cli.audit.audit_report import Violation
    from celadon.cli.audit.audit_run import Audit
    from celadon.cli.fleets.fleet_report import FleetReport


def add_fleet(group: argparse._ArgumentGroup) -> None:
    """Many sources at once."""
    group.add_argument("--fleet", metavar="FILE", help="sources by name, of kind Fleet")
    group.add_argument(
        "--on",
        default="",
        metavar="ADDRESS",
        help="where the work is done: dask://HOST:PORT, the scheduler of a Dask cluster "
        "(default: here, see --jobs)",
    )
    group.add_argument(
        "--state",
        default="",
        metavar="DIR",
        help="keep results in this folder; the same command goes on where it was stopped (with a "
        "cluster as the source, too)",
    )
    group.add_argument(
        "--violations",
        default="",
        metavar="FILE",
        help="write all violations to a .jsonl or .parquet file while they are found",
    )


def wrong_fleet_use(options: argparse.Namespace) -> str:
    """Return what does not go together; empty if all does."""
    given = [name for name in ("on", "violations") if getattr(options, name)]
    if not options.fleet:
        return f"`--{given[0]}` goes with `--fleet`" if given else ""
    if options.output not in FLEET.names:
        return f"a fleet is reported as {', '.join(FLEET.names)}, not as {options.output}"
    if options.violations and not options.violations.endswith((".jsonl", ".parquet")):
        return f"`{options.violations}`: expected a name that ends with .jsonl or .parquet"
    if options.violations and options.output == "jsonl":
        return "violations go either to a file or, as JSON lines, to standard output"
    return ""


def audited_fleet(audit: Audit, options: argparse.Namespace) -> FleetReport | str:
    """The report, or what is wrong with the options or the folder."""
    from celadon.cli.fleets.finished_work import DamagedResultError, KeptResults, NothingKept
    from celadon.cli.fleets.fleet_engines import EngineError, engine_for
    from celadon.cli.fleets.fleet_parts import read_fleet
    from celadon.cli.fleets.fleet_report import FleetReport
    from celadon.cli.fleets.fleet_run import FleetAudit, audit_fleet
    from celadon.cli.report.audit_view import violation_file

    fleet = read_fleet(options.fleet)
    if isinstance(fleet, list):
        return FleetReport((), tuple(fleet))
    emit = _write_line if options.output == "jsonl" else None
    try:
        memory = KeptResults(options.state) if options.state else NothingKept()
        file = violation_file(options.violations) if options.violations else None
        engine = engine_for(options.on, options.jobs)
    except (EngineError, OSError) as error:
        return str(error)
    try:
        return audit_fleet(
            FleetAudit(audit, fleet, engine, memory, emit if file is None else file.write)
        )
    except DamagedResultError as error:
        return str(error)
    except OSError as error:  # of the folder or the file: what sources raise is in their reports
        wrong = Problem(options.violations or options.state, 0, f"cannot be written: {error}")
        return FleetReport((), (wrong,))
    finally:
        engine.close()
        if file is not None:
            file.close()


def all_violations(audit: Audit, options: argparse.Namespace) -> Audit:
    """The same with no limit of violations where each is written at once."""
    import sys

    if not options.violations:
        return audit
    return replace(audit, settings=replace(audit.settings, limit=sys.maxsize))


def _write_line(source: str, violation: Violation) -> None:
    """A line of JSON lines, while the audit goes on."""
    from celadon.cli import output
    from celadon.cli.report.audit_view import fleet_violation_line

    output.write(fleet_violation_line(source, violation))
