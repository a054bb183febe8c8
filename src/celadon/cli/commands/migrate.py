"""`celadon migrate`: policies of Kyverno as ValidatingAdmissionPolicies."""

from __future__ import annotations

import argparse
import importlib.util
import os
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.reading.documents import Exit

if TYPE_CHECKING:
    from celadon.cli.migration import Migration, RuleOutcome

_PROGRAM: Final = "celadon migrate"

DESCRIPTION: Final = """\
Translate policies of Kyverno (ClusterPolicy, Policy, ValidatingPolicy) into
ValidatingAdmissionPolicies with their bindings, and run the tests that come with them
(kyverno-test.yaml) against the translation. A rule is translated whole or not at all, and each rule
that is not has its reason.

PATHS may be files, folders, globs, or - for standard input; CustomResourceDefinitions among them
tell which resources kinds are of. Needs jmespath: pip install 'celadon[migrate]'
"""

EPILOG: Final = """\
examples:
  celadon migrate policies/ -o translated/
  celadon migrate policies/ --report json
  celadon migrate require-labels.yaml

what is said of a rule:
  translated      and what its tests say, the translation says
  differs         a test expects something else: the object is named
  not translated  the reason is said, and what to use instead

exit codes:
  0  every rule was translated, and agrees with its tests
  1  a rule was not translated, or differs
  2  wrong usage, or an input that cannot be read or an output that cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon migrate --help` shows."""
    parser.add_argument("paths", nargs="+", metavar="PATHS", help="policies of Kyverno, and tests")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="where the translation goes, a file for each policy (default: standard output)",
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    parser.add_argument(
        "--report",
        choices=("text", "json"),
        default="text",
        help="how to report, on standard error (standard output with -o) (default: text)",
    )


def run(options: argparse.Namespace) -> Exit:
    """Read, translate, compare, write, report."""
    if importlib.util.find_spec("jmespath") is None:
        missing = "jmespath is not installed: pip install 'celadon[migrate]'"
        return output.usage_error(_PROGRAM, missing)
    from celadon.cli.migration import Migration

    migration = Migration.of(options.paths)
    for problem in migration.problems:
        output.complain(f"error: {problem.text()}")
    if not migration.outcomes and not migration.problems:
        return output.usage_error(_PROGRAM, "there is no policy of Kyverno in these files")
    files = dict(migration.files())
    if options.output is None:
        output.write("---\n".join(files.values()))
    elif not _written(options.output, files, force=options.force):
        return Exit.USAGE
    say = output.complain if options.output is None else output.say
    say(_json(migration) if options.report == "json" else _text(migration))
    if migration.problems:
        return Exit.USAGE
    is_whole = migration.count("translated") == len(migration.outcomes)
    return Exit.OK if is_whole else Exit.DENIED


def _written(folder: str, files: dict[str, str], *, force: bool) -> bool:
    """Write the files; say what is in the way, and write nothing then."""
    taken = [name for name in files if os.path.exists(os.path.join(folder, name))]
    if taken and not force:
        there = os.path.join(folder, taken[0])
        output.usage_error(_PROGRAM, f"`{there}` is there already: see `--force`")
        return False
    try:
        os.makedirs(folder, exist_ok=True)
        for name, content in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        output.usage_error(_PROGRAM, f"`{folder}` cannot be written: {reason}")
        return False
    return True


def _json(migration: Migration) -> str:
    import json

    return json.dumps([one.to_json() for one in migration.outcomes], indent=2)


def _text(migration: Migration) -> str:
    lines = [line for one in migration.outcomes for line in _lines(one)]
    states = ("translated", "differs", "not translated")
    counts = ", ".join(f"{migration.count(one)} {one}" for one in states if migration.count(one))
    differing = sum(len(one.differences) for one in migration.outcomes)
    lines.append("")
    lines.append(f"{len(migration.outcomes)} rules: {counts}")
    if migration.judged:
        lines.append(f"{migration.judged} cases of their tests: {differing} come out otherwise")
    else:
        lines.append("no tests came with them: compare the translation with what you know")
    return "\n".join(lines)


def _lines(outcome: RuleOutcome) -> list[str]:
    """Return what is said of one rule; nothing of one that agrees with its tests."""
    translation = outcome.translation
    origin = translation.origin
    title = f"{outcome.position}: {origin.policy}{f'/{origin.rule}' if origin.rule else ''}"
    if translation.reason:
        lines = [f"{title}: not translated: {translation.reason}"]
        return [*lines, f"  {translation.instead}"] if translation.instead else lines
    if not outcome.differences:
        return []
    lines = [f"{title}: differs"]
    for one in outcome.differences:
        kind, name = (
            one.case.object.get("kind"),
            (one.case.object.get("metadata") or {}).get("name"),
        )
        lines.append(f"  {kind} {name}: expected {one.case.expected}, found {one.found}")
        if one.message:
            lines.append(f"    {one.message}")
    return lines
