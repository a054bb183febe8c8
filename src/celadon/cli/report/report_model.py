"""What every report consists of, and which forms the report of a command has.

A command hands over its report as one value, and a view (`ReportView`) says of it what renderers
ask for: its text for people, its data, its findings (`Finding`), its cases (`ReportCase`), its page
(`Page`). A renderer is a function from a view to a text, so that one renderer serves all commands:
`FINDING_FORMS` are those of every command that has findings. Functions are named as
`module:function` below this package, and loaded when their form is asked for.
"""

from __future__ import annotations

import enum
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from celadon.cli.check.check_report import Notice, Place, PolicyError
from celadon.cli.reading.problems import Problem
from celadon.kube import Json
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.report.plain_text import Look

Reported = TypeVar("Reported")


class Level(enum.Enum):
    """This is how bad a finding is. An error fails the run."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding, and what stands there."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a report says of a place. `group` is the rule that it is found by, `subject`
    the object that it is about, as `Deployment shop/web`.

    `details` are lines that explain the message. `parts` are the same, each by a rule of its own,
    for formats in which a finding has one rule.
    """

    level: Level
    place: Place
    title: str
    message: str
    group: str
    subject: str
    column: int = 0
    help: str = ""
    details: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    parts: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingRule:
    """This is what the group of a finding stands for. `doc` and `help` are long, `level` is that of
    its findings unless somebody changes it; all three may be unknown."""

    group: str
    name: str
    text: str
    doc: str = ""
    help: str = ""
    level: Level | None = None


class CaseState(enum.Enum):
    """This is how a case ended. `ERROR` is a case that could not be judged."""

    PASSED = "passed"
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class ReportCase:
    """Something that passed or did not, for formats of test results. `message` is one line,
    `details` all there is to say; `output` is what is said of a case that passed.

    `title` is what it is called where cases are listed without groups. A case that is a `remark`
    was not run: it is there to be seen.
    """

    group: str
    name: str
    place: Place
    outcome: CaseState = CaseState.PASSED
    message: str = ""
    details: str = ""
    output: str = ""
    title: str = ""
    remark: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: a text, others below it in small letters, and its kind: `name`, `n` (a
    number), `time`, or an effect (`deny`, `warn`, `audit`) whose colour it has."""

    text: str
    kind: str = ""
    below: tuple[str, ...] = ()

    @classmethod
    def named(cls, text: str, *below: object) -> Cell:
        """The cell of what a row is about."""
        return cls(text, "name", tuple(map(str, below)))

    @classmethod
    def number(cls, count: int, effect: str = "") -> Cell:
        """A cell with a count; of an effect in its colour."""
        return cls(f"{count:,}", f"n {effect if count else 'none'}".rstrip())

    @classmethod
    def time(cls, text: str) -> Cell:
        """A cell with a time to the second, as logs have it."""
        return cls(text[:19].replace("T", " "), "time")


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its heads; a cell for each head in every row."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page. `depth` is 1 for what has its title from the page, 2 and 3 below.
    `numbers` are those that matter most: what is counted, how many, and the effect whose colour
    they have. `left_out` says what the table leaves out."""

    title: str
    depth: int = 2
    text: str = ""
    numbers: tuple[tuple[str, int, str], ...] = ()
    table: Table | None = None
    left_out: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    title: str
    sections: tuple[Section, ...]


class ReportView(Generic[Reported]):
    """A report as renderers see it. Views of commands have those parts that their forms need."""

    command: ClassVar[str]
    """What found all this: `celadon check`."""

    def __init__(self, report: Reported) -> None:
        self.report = report

    @property
    def problems(self) -> Sequence[Problem]:
        """The inputs that could not be read."""
        problems: Sequence[Problem] = self.report.problems  # type: ignore[attr-defined]
        return problems

    def text(self, look: Look) -> str:
        """The report for people; no text where there is nothing to say."""
        raise NotImplementedError

    def data(self) -> dict[str, Any] | list[dict[str, Any]]:
        """The report for programs, as plain data."""
        raise NotImplementedError

    def findings(self) -> Iterable[Finding]:
        """Return what the report has found, besides inputs that could not be read."""
        raise NotImplementedError

    def rules(self, groups: Sequence[str]) -> Sequence[FindingRule]:
        """Return what these groups of findings stand for, and those that had no findings."""
        raise NotImplementedError

    def cases(self) -> Iterable[ReportCase]:
        """Return what passed and what did not, besides inputs that could not be read."""
        raise NotImplementedError

    def page(self) -> Page:
        """The report as a page."""
        raise NotImplementedError


def error_finding(error: PolicyError) -> Finding:
    """The finding that a policy cannot be used."""
    name = f"{error.kind} {error.name}"
    return Finding(Level.ERROR, error.place, name, error.message, "policy-error", name)


def notice_finding(notice: Notice, *, strict: bool) -> Finding:
    """The finding that something went by in silence."""
    level = Level.ERROR if strict else Level.NOTE
    reason = notice.silence.value
    return Finding(level, notice.place, reason, notice.message, f"notice/{reason}", reason)


def error_case(error: PolicyError) -> ReportCase:
    """The case of a policy that cannot be used."""
    name = f"{error.kind} {error.name}"
    return ReportCase("policy", name, error.place, CaseState.ERROR, error.message)


def notice_case(notice: Notice, *, strict: bool, details: str = "") -> ReportCase:
    """The case of something that went by in silence."""
    outcome = CaseState.FAILED if strict else CaseState.SKIPPED
    name = notice.silence.value
    return ReportCase("notice", name, notice.place, outcome, notice.message, details, remark=True)


def remark_sections(
    errors: Iterable[PolicyError], notices: Iterable[Notice], problems: Iterable[Problem]
) -> Iterator[Section]:
    """Yield what went wrong, or by without a word, as lists with headings."""
    lists = {
        "Broken policies": tuple(f"{one.place}  {one.message}" for one in errors),
        "Notices": tuple(map(_noted, notices)),
        "Not read": tuple(one.text() for one in problems),
    }
    return (Section(title, items=items) for title, items in lists.items() if items)


def _noted(one: Notice) -> str:
    place = f"{one.place}  " if one.place.file else ""
    return f"{place}{one.message}" + (f" ({one.help})" if one.help else "")


@dataclass(frozen=True, slots=True)
class ReportForms:
    """The forms of one kind of report. `view` is the class of its view; `functions` are the
    renderers by the names that `-o` takes. The first form is for people: the view itself makes
    it."""

    view: str
    functions: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Return what `-o` takes."""
        return tuple(self.functions)

    @property
    def for_people(self) -> str:
        """The form that people read."""
        return self.names[0]

    def view_of(self, report: object) -> ReportView[object]:
        """A report as renderers see it."""
        view: ReportView[Any] = _loaded(self.view)(report)
        return view

    def rendered(self, report: object, name: str) -> str:
        """The report in a form that is for programs."""
        text: str = _loaded(self.functions[name])(self.view_of(report))
        return text


def _loaded(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    loaded: Callable[..., Json] = getattr(importlib.import_module(f"{_ROOM}.{module}"), attribute)
    return loaded


_ROOM: Final = "celadon.cli.report"
_TABLE: Final = {"table": ""}
_TEXT: Final = {"text": ""}
_JSON: Final = {"json": "json_form:as_json"}
_HTML: Final = {"html": "html_pages:as_html"}

FINDING_FORMS: Final = {
    "github": "ci_forms:as_github",
    "junit": "ci_forms:as_junit",
    "sarif": "ci_forms:as_sarif",
    "tap": "ci_forms:as_tap",
}
"""The forms of every report that has findings and cases."""

CHECK: Final = ReportForms(
    "check_view:CheckView", _TABLE | _JSON | {"yaml": "json_form:as_yaml"} | FINDING_FORMS
)
UPGRADE: Final = ReportForms(
    "upgrade_view:UpgradeView", _TABLE | _JSON | {"yaml": "json_form:as_yaml"} | FINDING_FORMS
)
UPGRADE_AUDIT: Final = ReportForms("upgrade_view:UpgradeAuditView", UPGRADE.functions)
LINT: Final = ReportForms("lint_view:LintView", _TEXT | _JSON | FINDING_FORMS)
LINT_STATISTICS: Final = ReportForms("lint_view:StatisticsView", _TEXT | _JSON)
DIFF: Final = ReportForms("diff_view:DiffView", _TEXT | _JSON | FINDING_FORMS)
CLAIMS: Final = ReportForms("claim_view:ClaimView", _TEXT | _JSON | FINDING_FORMS)
TEST: Final = ReportForms("case_view:CaseView", _TEXT | _JSON | FINDING_FORMS)
EXPLANATION: Final = ReportForms(
    "explanation_view:ExplanationView", _TEXT | _JSON | {"html": "explanation_html:as_html"}
)
AUDIT: Final = ReportForms(
    "audit_view:AuditView",
    _TABLE
    | _JSON
    | {"jsonl": "audit_view:as_last_line"}
    | FINDING_FORMS
    | _HTML
    | {"policyreport": "audit_view:as_policy_reports", "openreports": "audit_view:as_open_reports"},
)
FLEET: Final = ReportForms(
    "audit_view:FleetView", _TABLE | _JSON | {"jsonl": "audit_view:as_last_line"}
)
REPLAY: Final = ReportForms("replay_view:ReplayView", _TABLE | _JSON | _HTML)
BOOTSTRAP: Final = ReportForms("bootstrap_view:BootstrapView", _TEXT | _JSON)
"""All of them."""
