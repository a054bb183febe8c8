"""Which reports there are, in which forms, and which function makes each.

A row is the whole of a form: its name, as `-o` takes it, and the function, as `module:function`
below `celadon.cli.formats`. Modules are loaded when their form is asked for, as those of commands
are. The form for people is made by a function of the report and a `Look`; all others need the
report only.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.records import dataclass

_ROOM: Final = "celadon.cli.formats"


@dataclass(frozen=True, slots=True)
class ReportForms:
    """Those of one kind of report, by name; the first one is for people."""

    functions: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """What `-o` takes."""
        return tuple(self.functions)

    @property
    def for_people(self) -> str:
        """The form that people read."""
        return self.names[0]

    def renderer(self, name: str) -> Callable[..., str]:
        """The function of a form."""
        module, _, function = self.functions[name].partition(":")
        found: Any = getattr(importlib.import_module(f"{_ROOM}.{module}"), function)
        return found  # type: ignore[no-any-return]  # a name says nothing of its type


CHECK: Final = ReportForms(
    {
        "table": "check_human:render",
        "json": "check_data:render_json",
        "yaml": "check_data:render_yaml",
        "github": "check_github:render",
        "junit": "check_junit:render",
        "sarif": "check_sarif:render",
    }
)
LINT: Final = ReportForms(
    {
        "text": "lint_reports.lint_human:render",
        "json": "lint_reports.lint_data:render_json",
        "sarif": "lint_reports.lint_data:render_sarif",
        "github": "lint_reports.lint_ci:render_github",
        "junit": "lint_reports.lint_ci:render_junit",
    }
)
LINT_STATISTICS: Final = ReportForms(
    {
        "text": "lint_reports.lint_statistics:render",
        "json": "lint_reports.lint_statistics:render_json",
    }
)
TEST: Final = ReportForms(
    {
        "text": "case_reports.case_text:render",
        "json": "case_reports.case_data:render_json",
        "junit": "case_reports.case_ci:render_junit",
        "github": "case_reports.case_ci:render_github",
        "tap": "case_reports.case_ci:render_tap",
    }
)
EXPLANATION: Final = ReportForms(
    {
        "text": "explanation_reports.explanation_text:render",
        "json": "explanation_reports.explanation_data:render",
        "html": "explanation_reports.explanation_html:render",
    }
)
AUDIT: Final = ReportForms(
    {
        "table": "audits.audit_human:render",
        "json": "audits.audit_data:render_json",
        "jsonl": "audits.audit_data:render_end",
        "sarif": "audits.audit_sarif:render",
        "junit": "audits.audit_junit:render",
        "html": "audits.audit_html:render",
        "policyreport": "audits.policy_reports:render",
        "openreports": "audits.policy_reports:render_open",
    }
)
FLEET: Final = ReportForms(
    {
        "table": "audits.fleet_human:render",
        "json": "audits.fleet_data:render_json",
        "jsonl": "audits.fleet_data:render_end",
    }
)
REPLAY: Final = ReportForms(
    {
        "table": "audits.replay_human:render",
        "json": "audits.replay_data:render_json",
        "html": "audits.replay_html:render",
    }
)
BOOTSTRAP: Final = ReportForms(
    {
        "text": "lock_reports.lock_text:render",
        "json": "lock_reports.lock_data:render_json",
    }
)
