"""`celadon library`: policies to start from, shown and copied."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from celadon.admission.lint import Settings, policy_costs
from celadon.cel import Environment
from celadon.cel.syntax import ListLiteral, Literal, walk
from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.library import LibraryPolicy, chosen, copy, groups, library, topics_of
from celadon.cli.options import add_version, did_you_mean
from celadon.goyaml import read_yaml
from celadon.kube import JsonObject
from celadon.kube.library import RUNTIME_COST_BUDGET

# --- Params and costs of a policy --------------------------------------------

# What is known of a policy of the library once it is read: its params and its costs.

OBJECT_SIZE: Final = Settings("").large_object
"""How large the object is of which costs are told, in bytes of JSON."""


def params(policy: LibraryPolicy) -> dict[str, str]:
    """Return the expressions of the params by name: the variables that are constants."""
    return {
        str(variable["name"]): " ".join(str(variable["expression"]).split())
        for document in _documents(policy)
        for variable in document["spec"].get("variables") or ()
        if _is_constant(str(variable["expression"]))
    }


def _documents(policy: LibraryPolicy) -> list[JsonObject]:
    return [document for _, document in read_yaml(policy.policy_text)]


def _is_constant(expression: str) -> bool:
    tree, _ = Environment().parse(expression)
    return tree is not None and all(
        isinstance(node, Literal | ListLiteral) for node in walk(tree.root)
    )


def worst_cost(policy: LibraryPolicy, version: str) -> int:
    """Return what a request about an object of `OBJECT_SIZE` may cost at most; an API server stops
    at `RUNTIME_COST_BUDGET`."""
    (cost,) = policy_costs(_documents(policy), Settings(version))
    return int(cost)


def facts(policy: LibraryPolicy, version: str) -> JsonObject:
    """Return all of it as JSON. The cost is that of a release."""
    return {
        "name": policy.name,
        "title": policy.title,
        "topics": list(policy.topics),
        "since": policy.since,
        "params": params(policy),
        "setFirst": list(policy.own),
        "worstCost": worst_cost(policy, version),
        "page": policy.page,
        "policy": policy.policy_text,
    }


def fact_lines(policy: LibraryPolicy, version: str) -> Iterator[str]:
    """Topics, releases, costs and params in a line each."""
    yield f"topics: {', '.join(policy.topics)}"
    yield f"releases: Kubernetes {policy.since} and later"
    yield (
        f"cost: at most {worst_cost(policy, version):,} of {RUNTIME_COST_BUDGET:,}"
        f" for an object of {OBJECT_SIZE // 1024} KiB"
    )
    for name, value in params(policy).items():
        first = "; set it first" if name in policy.own else ""
        yield f"param `{name}`: {value}{first}"


# --- The command -------------------------------------------------------------


DESCRIPTION: Final = """\
Policies to start from, each with its binding, its test, and a page that says why.

  list [TOPIC...]  all of them, or those of these topics
  show NAME...     why, what to adapt, what it costs, and the policy
  add NAME...      copy the files into a project; nothing that is there is overwritten

A topic stands for all its policies: `pod-security-baseline` and `pod-security-restricted` are the
Pod Security Standards.
"""

EPILOG: Final = """\
examples:
  celadon library list
  celadon library list rbac images
  celadon library show no-latest-tag
  celadon library add no-latest-tag required-probes
  celadon library add pod-security-restricted --output-dir policies

exit codes:
  0  done
  2  wrong usage, an unknown name, or a file that is there already or cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to do, and with which policies."""
    parser.add_argument(
        "action", metavar="ACTION", choices=("list", "show", "add"), help="list, show or add"
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="policies of the library, or topics"
    )
    parser.add_argument(
        "--output-dir",
        metavar="DIR",
        help="where `add` makes a folder for each policy (default: `policies`)",
    )
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), help="of `list` and `show` (default: text)"
    )
    add_version(parser)


def run(options: argparse.Namespace) -> Exit:
    """List, show or add."""
    if options.output_dir is not None and options.action != "add":
        raise WrongUseError("`--output-dir` belongs to `add`")
    if options.output is not None and options.action == "add":
        raise WrongUseError("`--output` belongs to `list` and `show`")
    policies = library()
    if options.action == "list":
        topics = topics_of(policies.values())
        for topic in options.names:
            if topic not in topics:
                hint = did_you_mean(topic, topics)
                raise WrongUseError(f"no topic `{topic}` in the library{hint}")
    elif not options.names:
        raise WrongUseError(f"`{options.action}` needs a name")
    result = chosen(policies, options.names) if options.names else list(policies.values())
    if options.action == "add":
        return _add(result, Path(options.output_dir or "policies"))
    if options.output == "json":
        _write_json(result, options.kubernetes_version)
    elif options.action == "list":
        _list(result)
    else:
        version = options.kubernetes_version
        output.say("\n".join(_shown(policy, version) for policy in result).rstrip("\n"))
    return Exit.OK


def _write_json(policies: Iterable[LibraryPolicy], version: str) -> None:
    import json

    output.say(json.dumps([facts(policy, version) for policy in policies], indent=2))


def _list(policies: Iterable[LibraryPolicy]) -> None:
    rows = {
        topic: [
            (f"  {item.name}", item.title, ", ".join(item.topics[1:]), f"{item.since} and later")
            for item in group
        ]
        for topic, group in groups(policies).items()
    }
    head = ("NAME", "TITLE", "ALSO", "KUBERNETES")
    columns = zip(head, *(row for group in rows.values() for row in group), strict=True)
    widths = [max(map(len, column)) for column in columns]

    def say(row: Iterable[str]) -> None:
        cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)]
        output.say("  ".join(cells).rstrip())

    say(head)
    for topic, group in rows.items():
        output.say(f"{topic}:")
        for row in group:
            say(row)


def _shown(policy: LibraryPolicy, version: str) -> str:
    return "\n".join(
        [
            f"{policy.name}: {policy.title}",
            *fact_lines(policy, version),
            "",
            policy.page,
            policy.policy_text,
            "try it:",
            f"  celadon library add {policy.name}",
            f"  celadon check -f policies/{policy.name} MANIFESTS",
            f"  celadon audit --library {policy.name} DUMP",
            "",
        ]
    )


def _add(policies: list[LibraryPolicy], into: Path) -> Exit:
    import shlex

    for path in copy(policies, into):
        output.say(f"written: {path}")
    say_what_to_set(policies, into)
    output.say(f"next:\n  celadon test {shlex.quote(str(into))}")
    return Exit.OK


def say_what_to_set(policies: Iterable[LibraryPolicy], into: Path) -> None:
    """Say which copied policies have values that only their owner knows."""
    for policy in policies:
        for name in policy.own:
            path = into / policy.name / f"{policy.name}.yaml"
            output.say(f"set first: the variable `{name}` in {path}, and the test beside it")
