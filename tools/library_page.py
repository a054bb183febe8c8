"""The page about the policies of the library: `python -m tools.library_page > docs/library.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from celadon.cli.commands.library import OBJECT_SIZE, params, worst_cost
from celadon.cli.library import LibraryPolicy, groups, library
from celadon.cli.options import DEFAULT_VERSION
from celadon.kube.library import RUNTIME_COST_BUDGET

_INTRODUCTION = f"""\
# The library of policies

*Reference.* Policies to start from, with their tests.

- `celadon library show NAME` shows one, and what to adapt; `add NAME` copies it into a project.
- `celadon init --library NAME` starts a project with some.
- `celadon audit --library NAME DUMP` says what a cluster would fail, and installs nothing.

A topic stands for all its policies. Each policy has a test that covers all of it and that no mutant
survives, on every release since the one that the table names. *Cost* is the most that a request
about an object of {OBJECT_SIZE // 1024} KiB may cost; an API server stops at
{RUNTIME_COST_BUDGET:,}. *Params* are variables for your own values. Those in bold have no value
that is right for everybody: `celadon audit --library` leaves these out unless you name them.

<!-- Made by `python -m tools.library_page > docs/library.md`; edit the pages in
     src/celadon/cli/library/policies. -->
"""

_SETS = """\
## Sets

| set | what it is |
|---|---|
| `pod-security-baseline` | the controls of the Pod Security Standard *baseline*, one policy each |
| `pod-security-restricted` | those of *restricted*, which include what is left of *baseline* |

The sets decide as the plugin PodSecurity of Kubernetes 1.36 does about pods that are created, and
about templates of workloads, too. They leave out `kube-system`, and no other namespace.
"""


def page() -> str:
    """The whole page, Markdown."""
    return "\n".join([_INTRODUCTION, _SETS, *_groups()])


def _groups() -> Iterator[str]:
    for topic, policies in groups(library().values()).items():
        yield f"## Topic {topic}\n"
        yield "| policy | | params | cost | since |"
        yield "|---|---|---|---:|---|"
        yield from map(_row, policies)
        yield ""
        for policy in policies:
            yield f"### {policy.name}\n"
            why, _, _ = policy.page.partition("## Adapt it")
            yield f"*{policy.title}.* {why.removeprefix('## Why').strip()}\n"


def _row(policy: LibraryPolicy) -> str:
    link = f"[{policy.name}](#{policy.name})"
    names = [f"**`{name}`**" if name in policy.own else f"`{name}`" for name in params(policy)]
    cost = worst_cost(policy, DEFAULT_VERSION)
    return f"| {link} | {policy.title} | {', '.join(names)} | {cost:,} | {policy.since} |"


if __name__ == "__main__":
    sys.stdout.write(page())
