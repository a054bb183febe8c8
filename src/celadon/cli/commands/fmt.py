"""`celadon fmt`: the canonical layout of expressions in files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from celadon.cli import output, project_config
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.report import report_model
from celadon.cli.report.report_model import plural

if TYPE_CHECKING:
    from celadon.cli.fmt import LayoutConfig, TextLayout
    from celadon.cli.reading.documents import Problem


DESCRIPTION: Final = """\
Lay out the CEL expressions in YAML and JSON: of policies, mutating policies, webhooks, the rules of
CustomResourceDefinitions, and the selectors of devices. White space in expressions changes, and the
lines they stand on; nothing else of a file does, nor what an expression means.

PATHS may be files, folders, globs, or - for standard input, which is written to standard output.
"""

EPILOG: Final = """\
examples:
  celadon fmt policies/
  celadon fmt --check policies/
  celadon fmt --diff policies/ --line-width 100
  celadon fmt - < policy.yaml

configuration: [fmt] in celadon.toml, or [tool.celadon.fmt] in pyproject.toml, with the keys
  line-width, exclude

exit codes:
  0  everything has its layout now
  1  something has not (--check, --diff)
  2  wrong usage, or an input that cannot be read or written, or an expression with a syntax error
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon fmt --help` shows."""
    parser.add_argument("paths", nargs="*", metavar="PATHS", help="what is to be laid out")
    parser.add_argument("--check", action="store_true", help="change nothing, only say what would")
    parser.add_argument(
        "--diff", action="store_true", help="change nothing, show what would change"
    )
    parser.add_argument(
        "--line-width",
        type=int,
        metavar="COLUMNS",
        help="how long a line may become, its indentation included (default: 80)",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="leave out files of folders and globs that match, or whose folder does",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="only what is wrong")
    project_config.add_project(parser)
    project_config.add_verbose(parser)


def run(options: argparse.Namespace) -> Exit:
    """Read, lay out, write or tell."""
    from celadon.cli.fmt import MAX_WIDTH, MIN_WIDTH, is_width

    config = _config(options)
    if not options.paths:
        raise WrongUseError("nothing to lay out: give files or folders")
    if not is_width(config.line_width):
        raise WrongUseError(f"`--line-width` must be from {MIN_WIDTH} to {MAX_WIDTH}")
    return _Formatter(options, config).run()


def _config(options: argparse.Namespace) -> LayoutConfig:
    from dataclasses import replace
    from pathlib import Path

    from celadon.cli.fmt import LayoutConfig, layout_config

    project = project_config.project_of(options, output.complain, reads_files=False)
    config = LayoutConfig() if options.no_config else layout_config(Path.cwd())
    if options.line_width is not None:
        config = replace(config, line_width=options.line_width)
    exclude = (*project.exclude, *config.exclude, *(options.exclude or ()))
    return replace(config, exclude=exclude)


class _Formatter:
    """Formats the files of one run, and holds what was found, file by file."""

    def __init__(self, options: argparse.Namespace, config: LayoutConfig) -> None:
        self._options = options
        self._config = config
        self._changed = self._unchanged = 0
        self._has_problems = False

    def run(self) -> Exit:
        from celadon.cli.fmt import text_layout
        from celadon.cli.reading.documents import Exclusion, Problem, read_texts

        exclusion = Exclusion(self._config.exclude)
        for text in read_texts(self._options.paths, exclusion, tests=True):
            if isinstance(text, Problem):
                self._complain(text)
                continue
            if project_config.passed_over(text, self._options.paths):
                continue
            layout = text_layout(text, self._config.line_width)
            for problem in layout.problems:
                self._complain(problem)
            self._one(layout)
        self._summary()
        if self._has_problems:
            return Exit.USAGE
        is_dry = self._options.check or self._options.diff
        return Exit.DENIED if is_dry and self._changed else Exit.OK

    def _complain(self, problem: Problem) -> None:
        self._has_problems = True
        output.complain(f"error: {problem.text()}")

    def _one(self, layout: TextLayout) -> None:
        from celadon.cli.fmt import unified_diff
        from celadon.cli.reading.documents import STDIN_NAME

        text, count = layout.text, len(layout.misplaced)
        is_dry = self._options.check or self._options.diff
        if text.file == STDIN_NAME and not is_dry:
            output.write(layout.content())
            return
        if not count:
            self._unchanged += 1
            return
        if self._options.diff:
            message = unified_diff(text.file, text.content, layout.content())
            output.write(report_model.lines(message))
        if not is_dry and not self._write(layout):
            return
        self._changed += 1
        if not self._options.diff:
            verb = "would lay out" if self._options.check else "laid out"
            self._say(f"{text.file}: {verb} {plural(count, 'expression')}")

    def _write(self, layout: TextLayout) -> bool:
        """Return whether the file was changed."""
        from celadon.cli.fmt import changed_file
        from celadon.cli.reading.documents import Problem

        file = layout.text.file
        try:
            changed = changed_file(layout.text, layout.content(), len(layout.misplaced))
            if changed is not None:
                changed.write()
                return True
        except OSError as error:
            self._complain(Problem(file, 0, output.unwritten(error)))
        else:
            hint = "its line ends are of both kinds, or it has just been changed"
            self._complain(Problem(file, 0, "stays as it is", hint))
        return False

    def _summary(self) -> None:
        if "-" in self._options.paths and not self._changed and not self._unchanged:
            return
        is_dry = self._options.check or self._options.diff
        files = plural(self._changed, "file")
        verb = "would change" if is_dry else "changed"
        self._say(f"{files} {verb}, {self._unchanged} unchanged")

    def _say(self, text: str) -> None:
        if not self._options.quiet and not self._options.diff:
            output.say(text)
