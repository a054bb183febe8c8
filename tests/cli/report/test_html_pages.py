"""What pages of reports are made of: nothing from a file is ever markup, or turns the reading."""

from __future__ import annotations

from celadon.cli.report.html_pages import as_html
from celadon.cli.report.report_model import Cell, Page, ReportView, Section, Table, remark_sections
from tests.cli.report.page_text import read_page


class _View(ReportView[Page]):
    command = "celadon"

    def page(self) -> Page:
        return self.report


def shown(*sections: Section) -> str:
    return as_html(_View(Page("<t>", sections)))


def row(*cells: Cell, heads: tuple[str, ...] = ()) -> str:
    names = heads or tuple("abcdefg"[: len(cells)])
    return shown(Section("s", table=Table(names, (cells,))))


def test_texts_are_only_read() -> None:
    made = row(Cell.named("<b>\u202ea\x1b", "", "p.yaml:3"))
    assert '<td class="name" data-head="a">&lt;b&gt;\\u202ea\\x1b<br><code>p.yaml:3</code>' in made
    assert "b" not in read_page(made).names


def test_numbers_have_the_colour_of_their_effect_unless_they_are_none() -> None:
    cells = (Cell.number(1234, "deny"), Cell.number(0, "deny"), Cell.number(7))
    assert [(one.text, one.kind) for one in cells] == [
        ("1,234", "n deny"),
        ("0", "n none"),
        ("7", "n"),
    ]
    assert '<dd class="deny">2</dd>' in shown(Section("s", numbers=(("denied", 2, "deny"),)))
    assert '<dd class="">0</dd>' in shown(Section("s", numbers=(("denied", 0, "deny"),)))


def test_every_cell_knows_its_head() -> None:
    cells = (Cell("warn", "warn"), Cell.time("2026-03-01T10:00:00.1Z"), Cell.number(1))
    made = row(*cells, heads=("What", "When", 'A "b"'))
    assert '<th class="warn">What</th><th class="time">When</th><th class="n">' in made
    assert '<td class="time" data-head="When">2026-03-01 10:00:00</td>' in made
    assert '<td class="n" data-head="A &quot;b&quot;">1</td>' in made
    assert "<th" in shown(Section("s", table=Table(("What",), ())))


def test_nothing_is_said_of_nothing() -> None:
    assert list(remark_sections((), (), ())) == []
    made = shown(Section("x", 1, "y", left_out="and 3 more"), Section("z", items=("<i>",)))
    assert "<h1>x</h1>\n<p>y</p>\n<p>and 3 more</p>\n<h2>z</h2><ul><li>&lt;i&gt;</li></ul>" in made
    assert {"t", "i"}.isdisjoint(read_page(made).names)
