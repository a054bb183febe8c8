"""`celadon lint`: what is wrong with policies and bindings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.exits import Exit
from celadon.cli.release_option import VERSIONS, kubernetes_version

if TYPE_CHECKING:
    from celadon.admission.lint import Rule, Settings
    from celadon.cli.linting.lint_config import LintConfig

_PROGRAM: Final = "celadon lint"

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
  select, ignore, kubernetes-versions, fail-on, large-object

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
    parser.add_argument("paths", nargs="*", metavar="PATHS", help="what is to be linted")
    rules = parser.add_argument_group("which rules")
    rules.add_argument(
        "--select",
        action="append",
        metavar="RULE[,RULE]",
        help="only these: codes, beginnings of codes, or names",
    )
    rules.add_argument("--ignore", action="append", metavar="RULE[,RULE]", help="not these")
    rules.add_argument("--explain", metavar="RULE", help="show what a rule is about, and stop")
    rules.add_argument("--list-rules", action="store_true", help="show all rules, and stop")
    parser.add_argument("--fix", action="store_true", help="write safe fixes into the files")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
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
    parser.add_argument(
        "-o", "--output", choices=output.LINT_FORMATS, default="text", help="(default: text)"
    )
    parser.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")


def run(options: argparse.Namespace) -> Exit:
    """Read, lint, fix, report."""
    from celadon.admission.lint import chosen
    from celadon.cli.linting.lint_config import ConfigError, unknown_rule
    from celadon.cli.linting.rule_pages import explanation, overview

    if options.list_rules:
        output.write(overview())
        return Exit.OK
    if options.explain is not None:
        text = explanation(options.explain)
        wrong = unknown_rule((options.explain,)) or f"no rule `{options.explain}`"
        return _show(text) if text else output.usage_error(_PROGRAM, wrong)
    try:
        config = _config(options)
    except ConfigError as error:
        return output.usage_error(_PROGRAM, str(error))
    wrong = unknown_rule((*config.select, *config.ignore)) or _wrong_use(options, config)
    if wrong:
        return output.usage_error(_PROGRAM, wrong)
    return _lint(options, config, chosen(config.select, config.ignore))


def _show(text: str) -> Exit:
    output.write(text)
    return Exit.OK


def _config(options: argparse.Namespace) -> LintConfig:
    """The file's configuration under the options of the command line."""
    from dataclasses import replace
    from pathlib import Path

    from celadon.cli.linting.lint_config import find_config

    config = find_config(Path.cwd())
    if options.select is not None:
        config = replace(config, select=_names(options.select))
    if options.ignore is not None:
        config = replace(config, ignore=(*config.ignore, *_names(options.ignore)))
    if options.kubernetes_version:
        config = replace(config, kubernetes_versions=tuple(options.kubernetes_version))
    if options.fail_on:
        config = replace(config, fail_on=options.fail_on)
    if options.large_object is not None:
        config = replace(config, large_object=options.large_object)
    return config


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for one in given for name in one.split(",") if name.strip())


def _wrong_use(options: argparse.Namespace, config: LintConfig) -> str:
    if not options.paths:
        return "nothing to lint: give files or folders"
    if config.large_object < 1:
        return "`--large-object` must be at least 1"
    if options.fix and "-" in options.paths:
        return "`--fix` cannot change standard input"
    return ""


def _lint(options: argparse.Namespace, config: LintConfig, rules: list[Rule]) -> Exit:
    from celadon.admission.lint import Severity
    from celadon.cli.linting.fixing import fix
    from celadon.cli.linting.lint_report import LintReport
    from celadon.cli.linting.lint_run import findings, read, registered

    settings = _settings(config)
    given = read(options.paths)
    shown, silenced = findings(given, settings, rules)
    fixed = 0
    if options.fix:
        fixed = fix(given, [one.finding for one in shown])
        if fixed:
            given = read(options.paths)
            shown, silenced = findings(given, settings, rules)
    report = LintReport(
        tuple(one.located for one in shown),
        tuple(given.problems),
        registered(given),
        silenced,
        fixed,
        None if config.fail_on == "never" else Severity(config.fail_on),
    )
    output.show_lint(report, options.output, no_color=options.no_color)
    return report.exit


def _settings(config: LintConfig) -> Settings:
    from celadon.admission.lint import Settings

    versions = sorted(set(config.kubernetes_versions), key=lambda one: int(one.split(".")[1]))
    return Settings(versions[-1], tuple(versions[:-1]), config.large_object * 1024)
