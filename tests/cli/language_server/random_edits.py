"""Random edits of a file of policies: nothing may fail, and every answer must be that of a fresh
analysis. `python -m tests.cli.language_server.random_edits --edits 10000`.
"""

from __future__ import annotations

import argparse
import sys
from random import Random
from typing import Final

from celadon.cli.language_server import hovers
from celadon.cli.language_server.completions import completions
from celadon.cli.language_server.hovers import hover, signatures
from celadon.cli.language_server.lsp_adapter import code_actions
from celadon.cli.language_server.workspace_files import Position, Span, Workspace, expression_at
from celadon.cli.lint import LintConfig, lint_setup

FILE: Final = "policies.yaml"
_SETUP: Final = lint_setup(LintConfig())
_SIZE: Final = 1 << 18
_PIECES: Final = (
    *(" ", "\n", "\n  ", ".", "'", '"', "(", ")", "{", "}", "[", ": ", "#", "// x", "|", ">-\n"),
    *("&&", "||", "!", "?", "object.", "variables.", "c", "all(c, ", "has(", "size", "😀", "é"),
    *("- expression: ", "spec:\n", "---\n", "&a ", "*a", "null", "1", "\\", "\t", "\ufeff"),
    *("\r\n", "\r", "e\u0301", "\u2028", "<<: *a", "{{ .Values.x }}", "Object{", "Object.spec{"),
)


def edited(text: str, random: Random) -> str:
    """The text with something put in, taken out, or in another place."""
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice((0, 0, 0, 1, 1, 2, 5, 30)))
    piece = random.choice((*_PIECES, "", "", text[start : start + random.randrange(60)]))
    return text[:start] + piece + text[end:]


def analysis(workspace: Workspace, position: Position) -> list[object]:
    """All that can be asked about a place of the file, and about the file."""
    file = workspace.files[FILE]
    diagnoses = workspace.diagnoses()[FILE]
    scopes = workspace.scopes()
    span = Span(Position(0, 0), Position(9999, 0))
    found: list[object] = [
        [(one.span, one.code, one.message, one.severity) for one in diagnoses],
        workspace.layout_edits(FILE),
        [(one.title, one.edit) for one in code_actions(file, diagnoses, span)],
        hovers.cost_hints(file, span, scopes, _SIZE),
        hovers.occurrences(file, position),
        hovers.definition(file, position),
    ]
    spot = expression_at(file, position)
    if spot is not None:
        typed = scopes.at(spot.document.value, spot.path)
        found += [
            completions(spot.text, spot.offset, typed),
            hover(spot.text, spot.offset, typed, _SIZE),
            signatures(spot.text, spot.offset, typed),
        ]
    return found


def run(text: str, edits: int, seed: int) -> None:
    """So many edits, one on top of the other; after some, the text begins anew. Raises
    AssertionError where an answer is not that of a fresh analysis."""
    random = Random(seed)
    workspace = Workspace(_SETUP)
    current = text
    for number in range(edits):
        if number % 25 == 0:
            current = text
        current = edited(current, random)
        lines = current.split("\n")
        line = random.randrange(len(lines))
        place = Position(line, random.randrange(len(lines[line]) + 1))
        workspace.change(FILE, current)
        fresh = Workspace(_SETUP)
        fresh.change(FILE, current)
        try:
            assert analysis(workspace, place) == analysis(fresh, place)
        except Exception as error:
            error.add_note(f"seed {seed}, edit {number}, place {place}, text {current!r}")
            raise
        if number % 500 == 499:
            sys.stdout.write(f"{number + 1} edits\n")
            sys.stdout.flush()


def main() -> None:
    """The long run."""
    from tests.cli.language_server.policies_in_tests import POLICIES

    parser = argparse.ArgumentParser()
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    run(POLICIES, options.edits, options.seed)
    sys.stdout.write(f"{options.edits} edits: every answer is that of a fresh analysis\n")


if __name__ == "__main__":
    main()
