"""The language server's answer to a keystroke: diagnostics of a file of 50 policies.

Each keystroke changes a number in another policy, as an editor would tell it: the whole text is
read again, and everything in the workspace is linted, with what is known of documents that did not
change. `python -m bench.keystrokes` writes its part of docs/performance.md.
"""

from __future__ import annotations

import argparse
import sys
from statistics import mean
from time import process_time
from typing import Final

import yaml

from bench.load import binding, policy
from bench.pace import measured_slowness
from bench.page import record
from celadon.cli.language_server.workspace_files import Workspace
from celadon.cli.lint import LintConfig, lint_setup

POLICIES: Final = 50
GOAL_MS: Final = 100
_FILE: Final = "policies.yaml"
_EXPRESSIONS: Final = (
    "object.spec.replicas <= {}",
    "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
    "!has(object.metadata.labels) || 'team' in object.metadata.labels",
    "request.operation != 'UPDATE' || object.spec.replicas >= oldObject.spec.replicas - 10",
)


def text(typed: int, at: int) -> str:
    """Fifty policies with their bindings; in one of them, somebody types a number."""
    documents = []
    for number in range(POLICIES):
        limit = typed if number == at else number
        name = f"policy-{number}"
        documents += [policy(name, [one.format(limit) for one in _EXPRESSIONS]), binding(name)]
    return yaml.safe_dump_all(documents, sort_keys=False)


def keystrokes() -> list[float]:
    """What each takes, in milliseconds of a processor."""
    workspace = Workspace(lint_setup(LintConfig()))
    workspace.change(_FILE, text(0, 0))
    workspace.diagnoses()
    taken = []
    for at in range(POLICIES):
        typed = text(1000 + at, at)
        start = process_time()
        workspace.change(_FILE, typed)
        workspace.diagnoses()
        taken.append((process_time() - start) * 1e3)
    return taken


def part(taken: list[float], slowness: float) -> str:
    """The table of the page."""
    slowest, goal = max(taken), GOAL_MS * slowness
    said = "reached" if slowest <= goal else "**missed**"
    here = f"≤ {GOAL_MS} ms | ≤ {goal:.0f} ms | {said}"
    return _TEXT.format(slowest, here, mean(taken))


_TEXT: Final = """\
| | measured | goal | the same here | |
| --- | ---: | ---: | ---: | --- |
| a keystroke, the slowest | {:.0f} ms | {} |
| a keystroke, mean | {:.0f} ms | | | |
"""


def main() -> None:
    """Measure, and write the part of the page."""
    argparse.ArgumentParser(prog="python -m bench.keystrokes", description=__doc__).parse_args()
    made = part(keystrokes(), measured_slowness())
    sys.stdout.write(made)
    record({"keystrokes": made.splitlines()}, {"edited": str(POLICIES)})


if __name__ == "__main__":
    main()
