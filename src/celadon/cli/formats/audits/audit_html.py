"""The audit as one page that needs nothing else: numbers, groups, violations, notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from celadon.cli.auditing.audit_findings import Tally
from celadon.cli.auditing.audit_report import AuditReport
from celadon.cli.formats.html_page import page

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#222;--line:#ddd;--deny:#a40000;--warn:#8a5a00;--audit:#005a8a}
@media (prefers-color-scheme:dark){:root{--ink:#dfe4ea;--line:#333b45;--deny:#ff8f85;--warn:#e3b341;
--audit:#7fb7e8}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;
color:var(--ink)}
table{border-collapse:collapse;width:100%;margin:0 0 2rem}
th,td{border-bottom:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top;
overflow-wrap:anywhere}
th,td.deny,td.warn,td.audit{white-space:nowrap}td.n,th.n{text-align:right}
.deny{color:var(--deny);font-weight:600}.warn{color:var(--warn)}.audit{color:var(--audit)}
code{font-size:13px}"""
_NUMBERS: Final = ("Matched", "Denied", "Warned", "Audited", "Errors")


def render(report: AuditReport) -> str:
    """The whole document."""
    return page("celadon audit", _STYLE, "\n".join(_body(report)))


def _body(report: AuditReport) -> Iterator[str]:
    total = report.total
    yield "<h1>Audit</h1>"
    yield (
        f"<p>{report.objects} objects, {total.matched} matched by policies: "
        f"{total.denied} would be denied, {total.warned} warned about, {total.audited} audited on "
        f"{escape(report.operation)}.</p>"
    )
    yield "<h2>Policies</h2>"
    yield _tallies("Policy", [(one.name, one.tally) for one in report.policies])
    if report.groups:
        yield f"<h2>By {escape(report.summary_by)}</h2>"
        yield _tallies(report.summary_by, report.groups)
    yield "<h2>Violations</h2>"
    rows = (
        f'<tr><td class="{one.effect}">{one.effect}</td><td>{escape(one.policy)}</td>'
        f"<td>{escape(one.object.title)}<br><code>{escape(str(one.object.place))}</code></td>"
        f"<td>{escape(one.message)}<br><code>{escape(f'{one.rule} {one.field}')}</code></td></tr>"
        for one in report.violations
    )
    yield _table("<th>Effect</th><th>Policy</th><th>Object</th><th>Message</th>", rows)
    if report.omitted:
        yield f"<p>and {report.omitted} more</p>"
    said = [f"{one.place} {one.message}" for one in report.policy_errors]
    said += [f"{one.place} {one.message}" for one in report.notices]
    said += [problem.text() for problem in report.problems]
    if said:
        yield "<h2>Also</h2>"
        yield "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in said) + "</ul>"


def _tallies(head: str, rows: Sequence[tuple[str, Tally]]) -> str:
    heads = "".join(f'<th class="n">{one}</th>' for one in _NUMBERS)
    return _table(f"<th>{escape(head)}</th>{heads}", (_tally(name, one) for name, one in rows))


def _tally(name: str, one: Tally) -> str:
    numbers = (one.matched, one.denied, one.warned, one.audited, one.errors)
    cells = "".join(f'<td class="n">{number}</td>' for number in numbers)
    return f"<tr><td>{escape(name)}</td>{cells}</tr>"


def _table(head: str, rows: Iterable[str]) -> str:
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
