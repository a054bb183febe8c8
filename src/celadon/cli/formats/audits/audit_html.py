"""The audit as one page that needs nothing else: numbers, groups, violations, notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from celadon.cli.auditing.audit_findings import Tally
from celadon.cli.auditing.audit_report import AuditReport

_STYLE: Final = """\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%;margin:0 0 2rem}
th,td{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left;vertical-align:top;
overflow-wrap:anywhere}
td.n,th.n{text-align:right}.deny{color:#a40000;font-weight:600}.warn{color:#8a5a00}
.audit{color:#005a8a}code{font-size:13px}"""
_NUMBERS: Final = ("Matched", "Denied", "Warned", "Audited", "Errors")


def render(report: AuditReport) -> str:
    """The whole document."""
    body = "\n".join(_body(report))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>celadon audit</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


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
