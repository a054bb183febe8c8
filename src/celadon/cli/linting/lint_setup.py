"""From the configuration to what a run of the linter is given."""

from __future__ import annotations

from celadon.admission.lint import Settings, chosen
from celadon.cli.linting.comment_rule import EVERY_RULE
from celadon.cli.linting.layout_rule import UNFORMATTED, is_asked
from celadon.cli.linting.lint_config import LintConfig
from celadon.cli.linting.lint_run import FileIgnores, LintSetup
from celadon.cli.reading.sources import Exclusion


def lint_setup(config: LintConfig) -> LintSetup:
    """What a configuration means."""
    versions = sorted(set(config.kubernetes_versions), key=lambda one: int(one.split(".")[1]))
    ignored = config.ignore if is_asked(config.select) else (*config.ignore, UNFORMATTED.code)
    return LintSetup(
        Settings(versions[-1], tuple(versions[:-1]), config.large_object * 1024),
        tuple(chosen(config.select, ignored, EVERY_RULE)),
        tuple(FileIgnores(Exclusion([one]), names) for one, names in config.per_file_ignores),
    )
