"""The parts that every report consists of, which forms the report of a command has, and the forms
that programs read; other people's text is shown here, never obeyed.

A command hands over its report as one value, and a view (`ReportView`) says of it what renderers
ask for: its text for people, its data, its findings (`Finding`), its cases (`ReportCase`), its page
(`Page`). A renderer is a function from a view to a text, so that one renderer serves all commands:
`FINDING_FORMS` are those of every command that has findings. Functions are named as
`module:function` below this package, and loaded when their form is asked for.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar, cast

from celadon.cli.check.check_report import Notice, Place, PolicyError, UnaskedPlugin
from celadon.cli.reading.documents import Problem
from celadon.kube import Json, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

if TYPE_CHECKING:
    import argparse


# --- Plain text --------------------------------------------------------------
#
# Other people's text on a terminal or in a log: shown, never obeyed.
#
# Names, messages and file names come from files that somebody else wrote. A terminal would obey
# the control characters in them, a reader would be misled by characters that turn the direction
# of writing, and services that run workflows take lines that begin with `::` (or hold `##[`) as
# commands. All of these are written as escapes: `\x1b`, `\u202e`, `\x3a:`. Machine formats have
# escapes of their own.
#
# Below that are the lines that reports for people have in common, and two states of an object as
# people compare them.

COMMAND: Final = late_pattern(r"(?m)^([ \t]*):(?=:)|#(?=#(?:\[|vso\[))")
"""The beginning of a command, its last character the one to escape."""


def one_line(text: str) -> str:
    """Return the text with everything escaped that is not simply to be seen, line ends included."""
    return _without_commands(text if text.isprintable() else "".join(map(_shown, text)))


def lines(text: str) -> str:
    """Return the same for a text of several lines; tabs stay too."""
    if text.isprintable():
        return _without_commands(text)
    return _without_commands("".join(c if c in "\n\t" else _shown(c) for c in text))


@functools.lru_cache(maxsize=1)
def snippet(text: str) -> str:
    """Return a line of a file, a character for a character, so that a column stays one. Thousands
    of findings may stand in one line of a megabyte: the last one is kept."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def for_people(report: Reported) -> Reported:
    """Return a report in which no text does anything but being read; shares what needs no
    change."""
    return cast(Reported, _plain(report, ""))


def _plain(value: Any, field: str) -> Any:  # noqa: ANN401 - of the same type as it came
    if isinstance(value, str):
        return _FIELDS.get(field, one_line)(value)
    if isinstance(value, tuple):
        return tuple(_plain(item, field) for item in value)
    if isinstance(value, Mapping):
        return {one_line(str(key)): _plain(member, field) for key, member in value.items()}
    changed = {}
    for name in _field_names(value.__class__):
        result = getattr(value, name)
        if result and result is not True and (plain := _plain(result, name)) != result:
            changed[name] = plain
    return dataclasses.replace(value, **changed) if changed else value


@functools.cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Return the fields of a class of data; others have none that matter."""
    return (
        tuple(field.name for field in dataclasses.fields(kind))
        if dataclasses.is_dataclass(kind)
        else ()
    )


def _indented(text: str) -> str:
    """Indent all lines but the first, which stands where the words of the report stand."""
    return lines(text).replace("\n", "\n  ")


_FIELDS: Final[Mapping[str, Callable[[str], str]]] = {
    **dict.fromkeys(("message", "sentence", "text", "help"), _indented),
    **dict.fromkeys(("expected", "actual", "expression", "diff", "case"), lines),
    "line_text": snippet,
}
"""How fields of reports are shown; those not named here have one line."""


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": r"\n", "\r": r"\r", "\t": r"\t"}[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _without_commands(text: str) -> str:
    if "::" not in text and "##" not in text:
        return text
    return COMMAND.sub(lambda match: f"{match[1] or ''}\\x{ord(match[0][-1]):02x}", text)


# --- the lines of reports -----------------------------------------------------------------------

FEW: Final = 3
"""Objects of a block, and reasons, that are told of one by one."""

_MOST_ALIKE: Final = 10
"""Notices of one reason that are shown."""

_CONTEXT: Final = 3
"""Lines around each change of an object."""

_STYLES: Final = {
    "denied": "31;1",
    "error": "31;1",
    "invalid": "31;1",
    "warned": "33;1",
    "warning": "33;1",
    "mutated": "35;1",
    "notice": "36;1",
    "admitted": "32",
    "untouched": "2",
    "unchanged": "2",
    "unasked": "36;1",
    "dim": "2",
    "bold": "1",
}


@dataclass(frozen=True, slots=True)
class ReportStyle:
    """Says how much to say, and whether in colour. `verbosity` is -1 for `-q`, 1 and more for
    `-v`; `mutations` shows each mutation by itself."""

    color: bool = False
    verbosity: int = 0
    mutations: bool = False

    def paint(self, style: str, text: str) -> str:
        """Return the text in the colour of a style."""
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self.color else text


def joined(blocks: Iterable[Iterable[str]]) -> str:
    """Blocks of lines with an empty line between them, and a line end; nothing for no blocks."""
    texts = ["\n".join(block) for block in blocks]
    return "\n\n".join(texts) + "\n" if texts else ""


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: `1 policy`, `2 policies`. `nouns` is the plural of a noun
    that does not end with the word that changes: `parts of policies`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {nouns or (f'{noun[:-1]}ies' if noun.endswith('y') else f'{noun}s')}"


def aligned(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> list[str]:
    """Return the rows of a table as lines, columns as wide as their widest cell; `numbers` are the
    columns that stand to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_cells(row, widths, numbers)).rstrip() for row in rows]


def _cells(row: Sequence[str], widths: list[int], numbers: Collection[int]) -> Iterator[str]:
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if column in numbers else cell.ljust(width)


def policy_error_lines(errors: Iterable[PolicyError], look: ReportStyle) -> Iterator[list[str]]:
    """Yield a block for each policy that cannot be used."""
    for error in errors:
        yield [
            f"{look.paint('error', 'error:')} {_helped(error)}",
            f"  {_part(error.kind):8}{error.place}",
        ]


def _helped(error: PolicyError) -> str:
    return error.message + (f" ({error.help})" if error.help else "")


def _part(kind: str) -> str:
    """Return what plays the part of a policy, in a word of at most seven characters."""
    if kind.endswith("Binding"):
        return "binding"
    return "webhook" if kind.endswith("WebhookConfiguration") else "policy"


def notice_lines(
    notices: Iterable[Notice], look: ReportStyle, *, strict: bool
) -> Iterator[list[str]]:
    """Yield what went by in silence, as one block, if anything did. Of many notices of one reason
    the first are shown, unless they are failures, or somebody wants to know."""
    lines = []
    counts: Counter[str] = Counter()
    for notice in notices:
        counts[notice.reason.value] += 1
        if counts[notice.reason.value] > _MOST_ALIKE and look.verbosity == 0 and not strict:
            continue
        place = f"{notice.place}: " if notice.place.file else ""
        style, word = ("error", "strict:") if strict else ("notice", "notice:")
        lines.append(f"{look.paint(style, word)} {place}{notice.message}")
        if notice.help:
            lines.append(f"  {notice.help}")
    for reason, count in counts.items():
        if count > _MOST_ALIKE and look.verbosity == 0 and not strict:
            more = f"{count - _MOST_ALIKE} more: {reason} (-v shows all)"
            lines.append(f"{look.paint('notice', 'notice:')} {more}")
    if lines:
        yield lines


def plugin_lines(
    asked_names: Sequence[str], unasked: Sequence[UnaskedPlugin], look: ReportStyle
) -> Iterator[str]:
    """Yield which built-in plugins could not be asked, and, for who wants to know, which were."""
    if look.verbosity > 0 and asked_names:
        yield f"admission plugins asked: {', '.join(asked_names)}"
    reasons: dict[str, list[str]] = {}
    for plugin in unasked:
        reasons.setdefault(plugin.reason, []).append(plugin.plugin)
    if not reasons:
        return
    few = len(reasons) if look.verbosity > 0 else FEW
    texts = [f"{', '.join(names)} ({reason})" for reason, names in reasons.items()]
    more = f" and {plural(len(texts) - few, 'more reason')}" if len(texts) > few else ""
    text = f"admission plugins not fully asked: {', '.join(texts[:few])}{more}"
    yield look.paint("dim", text)


def yaml_text(value: JsonObject | Sequence[object]) -> str:
    """Return the object as a manifest, its members in their order."""
    import yaml

    text: str = yaml.safe_dump(_copied(value), sort_keys=False, allow_unicode=True, width=1000)
    return text


def _copied(value: object) -> object:
    """Return a copy in which nothing is there twice, which YAML would write as an alias."""
    if isinstance(value, Mapping):
        return {str(key): _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def diff_lines(before: JsonObject, after: JsonObject) -> list[str]:
    """Return a unified diff without its head; none for equal objects."""
    import difflib

    lines = difflib.unified_diff(
        yaml_text(before).splitlines(), yaml_text(after).splitlines(), n=_CONTEXT, lineterm=""
    )
    return list(lines)[2:]


# --- The model ---------------------------------------------------------------

Reported = TypeVar("Reported")


class Level(enum.Enum):
    """Says how bad a finding is. An error fails the run."""

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
    """Holds what the group of a finding stands for. `doc` and `help` are long, `level` is that of
    its findings unless somebody changes it; all three may be unknown."""

    group: str
    name: str
    text: str
    doc: str = ""
    help: str = ""
    level: Level | None = None


class CaseState(enum.Enum):
    """Says how a case ended. `ERROR` is a case that could not be judged."""

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
        """Return the cell of what a row is about."""
        return cls(text, "name", tuple(map(str, below)))

    @classmethod
    def number(cls, count: int, effect: str = "") -> Cell:
        """Return a cell with a count; of an effect in its colour."""
        return cls(f"{count:,}", f"n {effect if count else 'none'}".rstrip())

    @classmethod
    def time(cls, text: str) -> Cell:
        """Return a cell with a time to the second, as logs have it."""
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
        """Return the inputs that could not be read."""
        problems: Sequence[Problem] = self.report.problems  # type: ignore[attr-defined]
        return problems

    def text(self, look: ReportStyle) -> str:
        """Return the report for people; no text where there is nothing to say."""
        raise NotImplementedError

    def data(self) -> JsonDict | list[JsonDict]:
        """Return the report for programs, as plain data."""
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
        """Return the report as a page."""
        raise NotImplementedError


def error_finding(error: PolicyError) -> Finding:
    """Return the finding that a policy cannot be used."""
    name = f"{error.kind} {error.name}"
    return Finding(Level.ERROR, error.place, name, _helped(error), "policy-error", name)


def notice_finding(notice: Notice, *, strict: bool) -> Finding:
    """Return the finding that something went by in silence."""
    level = Level.ERROR if strict else Level.NOTE
    reason = notice.reason.value
    return Finding(level, notice.place, reason, notice.message, f"notice/{reason}", reason)


def error_case(error: PolicyError) -> ReportCase:
    """Return the case of a policy that cannot be used."""
    name = f"{error.kind} {error.name}"
    return ReportCase("policy", name, error.place, CaseState.ERROR, _helped(error))


def notice_case(notice: Notice, *, strict: bool, details: str = "") -> ReportCase:
    """Return the case of something that went by in silence."""
    outcome = CaseState.FAILED if strict else CaseState.SKIPPED
    name = notice.reason.value
    return ReportCase("notice", name, notice.place, outcome, notice.message, details, remark=True)


def remark_sections(
    errors: Iterable[PolicyError], notices: Iterable[Notice], problems: Iterable[Problem]
) -> Iterator[Section]:
    """Yield what went wrong, or by without a word, as lists with headings."""
    lists = {
        "Broken policies": tuple(f"{error.place}  {_helped(error)}" for error in errors),
        "Notices": tuple(map(_noted, notices)),
        "Not read": tuple(problem.text() for problem in problems),
    }
    return (Section(title, items=items) for title, items in lists.items() if items)


def _noted(notice: Notice) -> str:
    place = f"{notice.place}  " if notice.place.file else ""
    return f"{place}{notice.message}" + (f" ({notice.help})" if notice.help else "")


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
        """Return the form that people read."""
        return self.names[0]

    def add_options(
        self, group: argparse._ActionsContainer, *, quiet: str = "", verbose: str = ""
    ) -> None:
        """Declare how a report is shown: `--output` and `--no-color`; `--quiet` and `--verbose`
        where their help is given."""
        usual = self.for_people
        group.add_argument(
            "-o", "--output", choices=self.names, default=usual, help=f"(default: {usual})"
        )
        if quiet:
            group.add_argument("-q", "--quiet", action="store_true", help=quiet)
        if verbose:
            group.add_argument("-v", "--verbose", action="count", default=0, help=verbose)
        group.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")

    def view_of(self, report: object) -> ReportView[object]:
        """Return a report as renderers see it."""
        view: ReportView[Any] = _loaded(self.view)(report)
        return view

    def rendered(self, report: object, name: str) -> str:
        """Return the report in a form that is for programs."""
        text: str = _loaded(self.functions[name])(self.view_of(report))
        return text


def _loaded(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    loaded: Callable[..., Json] = getattr(importlib.import_module(f"{_ROOM}.{module}"), attribute)
    return loaded


_ROOM: Final = "celadon.cli.report"
_TABLE: Final = {"table": ""}
_TEXT: Final = {"text": ""}
_JSON: Final = {"json": "report_model:as_json"}
_HTML: Final = {"html": "html_pages:as_html"}

FINDING_FORMS: Final = {
    "github": "sarif_junit_tap:as_github",
    "junit": "sarif_junit_tap:as_junit",
    "sarif": "sarif_junit_tap:as_sarif",
    "tap": "sarif_junit_tap:as_tap",
}
"""The forms of every report that has findings and cases."""

CHECK: Final = ReportForms(
    "check_view:CheckView", _TABLE | _JSON | {"yaml": "report_model:as_yaml"} | FINDING_FORMS
)
UPGRADE: Final = ReportForms(
    "check_view:UpgradeView", _TABLE | _JSON | {"yaml": "report_model:as_yaml"} | FINDING_FORMS
)
UPGRADE_AUDIT: Final = ReportForms("check_view:UpgradeAuditView", UPGRADE.functions)
LINT: Final = ReportForms("lint_view:LintView", _TEXT | _JSON | FINDING_FORMS)
LINT_STATISTICS: Final = ReportForms("lint_view:StatisticsView", _TEXT | _JSON)
DIFF: Final = ReportForms("proof_view:DiffView", _TEXT | _JSON | FINDING_FORMS)
CLAIMS: Final = ReportForms("proof_view:ClaimView", _TEXT | _JSON | FINDING_FORMS)
PROOFS: Final = ReportForms("proof_view:ProofView", _TEXT | _JSON | FINDING_FORMS)
TEST: Final = ReportForms("case_view:CaseView", _TEXT | _JSON | FINDING_FORMS)
EXPLANATION: Final = ReportForms(
    "explanation_view:ExplanationView", _TEXT | _JSON | {"html": "explanation_view:as_html"}
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
MIGRATION: Final = ReportForms("migration_view:MigrationView", _TEXT | _JSON | _HTML)
MIGRATION_PLAN: Final = ReportForms("migration_view:PlanView", MIGRATION.functions)
BOOTSTRAP: Final = ReportForms("bootstrap_view:BootstrapView", _TEXT | _JSON)
"""All of them."""


# --- Forms for programs ------------------------------------------------------
#
# Reports for programs: JSON and YAML, made of the records of a report themselves.
#
# A record becomes an object with its fields, names in camel case, what is empty left out (false
# and 0 are not empty). Where the document has other names, another order or fewer members, a
# shape says so: the names of its members in their order, as
#
#     "place"             the field of this name
#     "what=part"         the member `what`, from the field `part`; it may be `place.line`
#     "line?"             left out also where it is 0 or false
#     "message!"          kept although it is empty
#     "*place"            the members of that record, in its stead
#     ("code", function)  the member `code`, which a function makes of the record
#
# A shape may also be a function that makes plain data of a record.

API_VERSION: Final = "celadon/v1"

Member: TypeAlias = str | tuple[str, Callable[[Any], Any]]
Shape: TypeAlias = tuple[Member, ...] | Callable[[Any], Any]
Shapes: TypeAlias = Mapping[type, Shape]

SHAPES: Final[Shapes] = {
    Place: ("file", "line?"),
    Problem: ("file", "line?", "column?", "message", "help"),
    PolicyError: ("*place", "kind", "name", "message", "help?"),
    Notice: ("*place", "reason", "message", "help"),
    UnaskedPlugin: ("plugin", "reason", "objects?"),
}
"""The shapes of what all reports have."""


def as_json(view: ReportView[Any]) -> str:
    """Return the document with two spaces of indentation, text as it is."""
    return json_document(view.data())


def json_document(value: object) -> str:
    """Return any value as a JSON document, with a line end."""
    return f"{_visible(json.dumps(value, indent=2, ensure_ascii=False))}\n"


def as_yaml(view: ReportView[Any]) -> str:
    """Return the same document as YAML, keys in the same order."""
    return yaml_text(view.data())


def json_line(value: JsonObject) -> str:
    """Return a line of JSON lines."""
    return f"{_visible(json.dumps(value, ensure_ascii=False, separators=(',', ':')))}\n"


def _visible(text: str) -> str:
    """JSON whose texts have escapes for what terminals and workflows obey, and for what turns the
    direction of writing: `json` itself knows of the first 32 characters only."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_OBEYED: Final = late_pattern(
    r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    r"|#(?=#(?:\[|vso\[))"
)


def document(kind: str, shapes: Shapes = SHAPES, /, **members: object) -> JsonDict:
    """Return a document of ours; at its top, empty members are kept."""
    about = {"apiVersion": API_VERSION, "kind": kind}
    return about | {name: data(value, shapes) for name, value in members.items()}


def data(value: Any, shapes: Shapes = SHAPES) -> Any:  # noqa: ANN401 - JSON of anything in a report
    """Return plain data of a value."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind: type = type(value)
    shape = _shape_of(kind, shapes)
    if callable(shape):
        return shape(value)
    if shape is not None:
        return _members(value, shape, shapes)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): data(item, shapes) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [data(item, shapes) for item in value]
    fields = _fields(kind)
    return _members(value, fields, shapes) if fields else str(value)


def filled(**members: object) -> JsonDict:
    """Return the members that are not empty."""
    return {name: value for name, value in members.items() if not _is_empty(value)}


def sparse(*members: Member) -> tuple[Member, ...]:
    """Return a shape in which 0 and false are left out, too."""
    return tuple(
        f"{member}?" if isinstance(member, str) and member[-1] not in "?!" else member
        for member in members
    )


def plugins(names: Sequence[str], unasked: Sequence[UnaskedPlugin]) -> dict[str, Json]:
    """Return which of the server's own plugins were asked, and which could not be."""
    return {"asked": list(names), "unasked": data(unasked)}


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict) and not value)


def _shape_of(kind: type, shapes: Shapes) -> Shape | None:
    shape = shapes.get(kind)
    if shape is None:
        shape = next((shapes[base] for base in kind.__mro__[1:] if base in shapes), None)
    return shape


@functools.cache
def _fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a record in their order; none of what is no record."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple(field.name for field in dataclasses.fields(kind))


def _members(record: object, shape: tuple[Member, ...], shapes: Shapes) -> JsonObject:
    result: dict[str, object] = {}
    for member in shape:
        name, make, mark = _read(member)
        value = data(make(record), shapes)
        if name == "*":
            result |= value if value is not None else {}
        elif mark == "!" or not (_is_empty(value) or (mark == "?" and not value)):
            result[name] = value
    return result


@functools.cache
def _read(member: Member) -> tuple[str, Callable[[Any], Any], str]:
    """Return the name of a member, how it is made of a record, and its mark."""
    if not isinstance(member, str):
        return *member, ""
    mark = member[-1] if member[-1] in "?!" else ""
    text = member.removesuffix(mark) if mark else member
    if text.startswith("*"):
        return "*", attrgetter(text[1:]), mark
    name, _, attribute = text.partition("=")
    return (name if attribute else camel(name)), attrgetter(attribute or name), mark


def camel(name: str) -> str:
    """Return a name of ours as JSON has it: `policyErrors`."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
