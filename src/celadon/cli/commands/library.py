"""`celadon library`: policies to start from."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.exits import Exit
from celadon.cli.options import did_you_mean

if TYPE_CHECKING:
    from celadon.cli.library.shelf import LibraryPolicy

_PROGRAM: Final = "celadon library"

DESCRIPTION: Final = """\
Policies to start from, each with its binding, its test, and a page that says why.

  list [TOPIC...]  all of them, or those of these topics
  show NAME...     the page and the policy
  add NAME...      copy the files into a project; nothing that is there is overwritten
"""

EPILOG: Final = """\
examples:
  celadon library list
  celadon library list pods images
  celadon library show no-latest-tag
  celadon library add no-latest-tag required-probes -o policies

exit codes:
  0  done
  2  wrong usage, an unknown name, or a file that is there already or cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which policies."""
    parser.add_argument(
        "action", metavar="ACTION", choices=("list", "show", "add"), help="list, show or add"
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="policies of the library, or topics to `list`"
    )
    parser.add_argument(
        "-o",
        "--output-dir",
        metavar="DIR",
        help="where `add` makes a folder for each policy (default: `policies`)",
    )


def run(options: argparse.Namespace) -> Exit:
    """List, show or add."""
    from celadon.cli.library.shelf import library

    if options.output_dir is not None and options.action != "add":
        return output.usage_error(_PROGRAM, "`--output-dir` belongs to `add`")
    policies = library()
    if options.action == "list":
        return _list(list(policies.values()), options.names)
    if not options.names:
        return output.usage_error(_PROGRAM, f"`{options.action}` needs a name")
    for name in options.names:
        if name not in policies:
            hint = did_you_mean(name, policies)
            return output.usage_error(_PROGRAM, f"no policy `{name}` in the library{hint}")
    chosen = [policies[name] for name in dict.fromkeys(options.names)]
    if options.action == "show":
        output.say("\n".join(map(_shown, chosen)).rstrip("\n"))
        return Exit.OK
    return _add(chosen, Path(options.output_dir or "policies"))


def _list(policies: list[LibraryPolicy], topics: list[str]) -> Exit:
    known = {topic for policy in policies for topic in policy.topics}
    for topic in topics:
        if topic not in known:
            hint = did_you_mean(topic, known)
            return output.usage_error(_PROGRAM, f"no topic `{topic}` in the library{hint}")
    rows = [("NAME", "TITLE", "TOPICS", "KUBERNETES")] + [
        (policy.name, policy.title, ", ".join(policy.topics), f"{policy.since} and later")
        for policy in policies
        if not topics or set(topics) & set(policy.topics)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)]
        output.say("  ".join(cells).rstrip())
    return Exit.OK


def _shown(policy: LibraryPolicy) -> str:
    return "\n".join(
        [
            f"{policy.name}: {policy.title}",
            f"topics: {', '.join(policy.topics)}; Kubernetes {policy.since} and later",
            "",
            policy.page,
            policy.policy_text,
            "try it:",
            f"  celadon library add {policy.name}",
            f"  celadon check -f policies/{policy.name} MANIFESTS",
            "",
        ]
    )


def _add(policies: list[LibraryPolicy], into: Path) -> Exit:
    import shlex

    from celadon.cli.library.shelf import CopyError, copy

    try:
        written = copy(policies, into)
    except CopyError as error:
        return output.usage_error(_PROGRAM, str(error))
    for path in written:
        output.say(f"written: {path}")
    output.say(f"next:\n  celadon test {shlex.quote(str(into))}")
    return Exit.OK
