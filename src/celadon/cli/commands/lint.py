"""`celadon lint`: what is wrong with policies and bindings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from celadon.admission.lint import Rule, Severity
from celadon.cli import lint, output, project_config
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import VERSIONS, kubernetes_version
from celadon.cli.processes import garbage_later
from celadon.cli.report import report_model
from celadon.cli.report.report_model import LINT, LINT_STATISTICS

if TYPE_CHECKING:
    from celadon.cli.fmt import ChangedFile
    from celadon.cli.reading.documents import Problem


DESCRIPTION: Final = """\
Find what is wrong with admission policies and bindings: what the API server would refuse, what does
not fit the kinds that a policy matches, and what is legal but will not do what was meant.

PATHS may be files, folders, globs, or - for standard input. Objects of other kinds are looked up:
CustomResourceDefinitions give their schemas, params are searched by bindings.
"""

EPILOG: Final = """\
examples:
  celadon lint policies/
  celadon lint policies/ --ignore missing-message --fail-on warning
  celadon lint policies/ --kubernetes-version 1.31 --kubernetes-version 1.36
  celadon lint policies/ -o sarif > lint.sarif
  celadon lint --explain CEL025

configuration: [lint] in celadon.toml, or [tool.celadon.lint] in pyproject.toml, with the keys
  select, ignore, per-file-ignores, exclude, kubernetes-versions, fail-on, large-object

comments silence findings:
  # celadon: ignore[CEL025]        on the line, or above it; // inside an expression
  # celadon: ignore-file[CEL041]   anywhere in the file

exit codes:
  0  nothing was found that fails the run
  1  something was found (see --fail-on)
  2  wrong usage, or an input that cannot be read
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon lint --help` shows."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATHS",
        help="what is to be linted (default: the files of the project)",
    )
    rules = parser.add_argument_group("which rules")
    rules.add_argument(
        "--select",
        action="append",
        metavar="RULE[,RULE]",
        help="only these: codes, beginnings of codes, or names",
    )
    rules.add_argument("--ignore", action="append", metavar="RULE[,RULE]", help="not these")
    rules.add_argument(
        "--per-file-ignores",
        action="append",
        metavar="PATTERN:RULE[,RULE]",
        help="not these in files that match; may be repeated",
    )
    rules.add_argument("--explain", metavar="RULE", help="show what a rule is about, and stop")
    rules.add_argument("--list-rules", action="store_true", help="show all rules, and stop")
    parser.add_argument("--fix", action="store_true", help="write safe fixes into the files")
    parser.add_argument(
        "--diff", action="store_true", help="show what --fix would change, and change nothing"
    )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="leave out files of folders and globs that match, or whose folder does",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "warn", "info", "never"),
        help="the least severity that makes the exit code 1 (default: error)",
    )
    parser.add_argument(
        "--kubernetes-version",
        action="append",
        type=kubernetes_version,
        metavar="VERSION",
        help=f"{VERSIONS[0]} to {VERSIONS[-1]}; may be repeated: the newest is linted for, and "
        "the others must know all functions",
    )
    parser.add_argument(
        "--large-object",
        type=int,
        metavar="KIB",
        help="the size of an object that must still be affordable (default: 256)",
    )
    _looks(parser)
    project_config.add_project(parser)
    project_config.add_verbose(parser)


def _looks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", choices=LINT.names, default="text", help="(default: text)"
    )
    parser.add_argument(
        "--strict", action="store_true", help="files of folders that are no manifests are errors"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="only what fails the run")
    parser.add_argument(
        "--statistics", action="store_true", help="how many findings each rule has, in their place"
    )
    parser.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")


def run(options: argparse.Namespace) -> Exit:
    """Read, lint, fix, report."""
    if options.list_rules:
        output.write(overview())
        return Exit.OK
    if options.explain is not None:
        text = explanation(options.explain)
        if not text:
            unknown = lint.unknown_rule((options.explain,))
            raise WrongUseError(unknown or f"no rule `{options.explain}`")
        output.write(text)
        return Exit.OK
    config = _config(options)
    wrong = lint.unknown_rule(config.named) or _wrong_use(options, config)
    if wrong:
        raise WrongUseError(wrong)
    with garbage_later() as loaded:
        return _lint(options, config, loaded)


def _config(options: argparse.Namespace) -> lint.LintConfig:
    """Return the file's configuration under the options of the command line."""
    from dataclasses import replace
    from pathlib import Path

    project = project_config.project_of(options, output.complain, reads_files=not options.paths)
    options.paths = options.paths or list(project.files)
    config = lint.LintConfig() if options.no_config else lint.find_config(Path.cwd(), project)
    if options.select is not None:
        config = replace(config, select=_names(options.select))
    if options.ignore is not None:
        config = replace(config, ignore=(*config.ignore, *_names(options.ignore)))
    if options.kubernetes_version:
        config = replace(config, kubernetes_versions=tuple(options.kubernetes_version))
    if options.fail_on:
        config = replace(config, fail_on=lint.FAIL_ON[options.fail_on])
    if options.exclude:
        config = replace(config, exclude=(*config.exclude, *options.exclude))
    if options.per_file_ignores:
        per_file_ignores = tuple(map(_file_ignores, options.per_file_ignores))
        config = replace(config, per_file_ignores=(*config.per_file_ignores, *per_file_ignores))
    if options.large_object is not None:
        config = replace(config, large_object=options.large_object)
    return config


def _file_ignores(text: str) -> tuple[str, tuple[str, ...]]:
    """Read a pattern of files and the rules that are ignored in them. Raises ConfigError."""
    pattern, _, names = text.rpartition(":")
    if not pattern:
        raise project_config.ConfigError(f"`--per-file-ignores {text}` must be PATTERN:RULE[,RULE]")
    return pattern, _names([names])


def _names(words: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


def _wrong_use(options: argparse.Namespace, config: lint.LintConfig) -> str:
    if not options.paths:
        return "nothing to lint: give files or folders"
    if config.large_object < 1:
        return "`--large-object` must be at least 1"
    if options.fix and "-" in options.paths:
        return "`--fix` cannot change standard input"
    if options.diff and (options.fix or options.output != "text"):
        return "`--diff` goes without `--fix` and `--output`"
    if options.statistics and options.output not in LINT_STATISTICS.names:
        return f"`--statistics` goes with the outputs {' and '.join(LINT_STATISTICS.names)}"
    return ""


def _lint(options: argparse.Namespace, config: lint.LintConfig, loaded: Callable[[], None]) -> Exit:
    from celadon.cli.reading.documents import Problem

    setup = lint.lint_setup(config)
    lint_input = lint.read(options.paths, config.exclude)
    loaded()
    shown_findings, silenced = lint.findings(lint_input, setup)
    fixed = 0
    if options.fix or options.diff:
        changed = lint.fixes(
            lint_input, [shown.finding for shown in shown_findings if shown.finding is not None]
        )
        if options.diff:
            return _show_changes(changed, lint_input.problems)
        unwritten: list[Problem] = []
        for file in changed:
            try:
                file.write()
            except OSError as error:
                unwritten.append(Problem(file.file, 0, output.unwritten(error)))
            else:
                fixed += file.count
        if fixed:
            lint_input = lint.read(options.paths, config.exclude)
            shown_findings, silenced = lint.findings(lint_input, setup)
        lint_input.problems += unwritten
    if lint_input.others and options.strict:
        lint_input.problems += lint_input.others
    elif lint_input.others and not options.quiet:
        output.complain(project_config.summary(lint_input.others))
    report = _report(lint_input, shown_findings, silenced, fixed, config)
    if not (report.objects or report.problems or options.quiet):
        hint = project_config.to_translate(lint_input.documents)
        hint = hint or "give the files or folders that have policies"
        output.complain(f"there is no policy to lint: {hint}")
    shown_report = report.only_failing() if options.quiet else report
    forms = LINT_STATISTICS if options.statistics else LINT
    output.show(shown_report, forms, options)
    return report.exit


def _show_changes(changed: list[ChangedFile], problems: list[Problem]) -> Exit:
    """Return what `--fix` would do. Something to fix is a finding."""
    for problem in problems:
        output.complain(f"error: {problem.text()}")
    for file in changed:
        output.write(report_model.lines(file.diff()))
    if problems:
        return Exit.USAGE
    return Exit.DENIED if changed else Exit.OK


def _report(
    lint_input: lint.LintInput,
    shown_findings: list[lint.ShownFinding],
    silenced: int,
    fixed: int,
    config: lint.LintConfig,
) -> lint.LintReport:
    return lint.LintReport(
        tuple(shown.located for shown in shown_findings),
        tuple(lint_input.problems),
        lint.registered(lint_input),
        silenced,
        fixed,
        None if config.fail_on == "never" else Severity(config.fail_on),
    )


# --- Rule pages --------------------------------------------------------------
#
# The rules as documentation: `--explain`, `--list-rules`, docs/lint.md.

_HEAD: Final = """\
# The rules of celadon lint

*Reference.* Made from the table of rules: `python -m celadon.cli.commands.lint > docs/lint.md`.

| code | name | severity |
|---|---|---|
"""
_FRAGMENTS: Final = """
Examples without a `kind` are the `spec` of a policy about Deployments that are created or updated.
CEL005, CEL021, CEL025, CEL026, CEL030 to CEL032, CEL035 and CEL041 speak about the rules of
CustomResourceDefinitions (`x-kubernetes-validations`), too.
How to choose rules, silence findings and fix them: [the commands](cli.md#celadon-lint).
"""


def explanation(word: str) -> str:
    """Return what a rule is about, by code or name; empty if there is none."""
    rule = next((rule for rule in lint.EVERY_RULE if word in (rule.code, rule.name)), None)
    if rule is None:
        return ""
    head = f"{rule.code} {rule.name} ({rule.severity.value})"
    return f"{head}\n\n{rule.doc}\n\nbad:\n{_indented(rule.bad)}\ngood:\n{_indented(rule.good)}"


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def overview() -> str:
    """Return a line per rule."""
    width = max(len(rule.name) for rule in lint.EVERY_RULE)
    return "".join(
        f"{rule.code}  {rule.name:{width}}  {rule.severity.value}\n" for rule in lint.EVERY_RULE
    )


def page() -> str:
    """Return all rules, as Markdown."""
    table = "".join(
        f"| {_link(rule)} | {rule.name} | {rule.severity.value} |\n" for rule in lint.EVERY_RULE
    )
    return _HEAD + table + _FRAGMENTS + "".join(_sections())


def _link(rule: Rule) -> str:
    return f"[{rule.code}](#{rule.code.lower()}-{rule.name})"


def _sections() -> Iterator[str]:
    for rule in lint.EVERY_RULE:
        yield f"\n## {rule.code} {rule.name}\n\n{rule.doc}\n"
        yield f"\nBad:\n\n```yaml\n{rule.bad}```\n\nGood:\n\n```yaml\n{rule.good}```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
