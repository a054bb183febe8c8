"""What pages of reports are made of: nothing from a file is ever markup, or turns the reading."""

from __future__ import annotations

from celadon.cli.formats.audits.report_pages import (
    all_remarks,
    effect,
    named,
    number,
    report_page,
    table,
    tiles,
    time,
    told,
)
from tests.cli.formats.audits.page_text import read_page


def test_texts_are_only_read() -> None:
    assert told("<b>\u202ea\x1b") == "&lt;b&gt;\\u202ea\\x1b"
    assert named("a", "", "p.yaml:3").html == "a<br><code>p.yaml:3</code>"


def test_numbers_have_the_colour_of_their_effect_unless_they_are_none() -> None:
    shown = [(one.html, one.kind) for one in (number(1234, "deny"), number(0, "deny"), number(7))]
    assert shown == [("1,234", "n deny"), ("0", "n none"), ("7", "n")]
    assert '<dd class="deny">2</dd>' in tiles([("denied", 2, "deny")])
    assert '<dd class="">0</dd>' in tiles([("denied", 0, "deny")])


def test_every_cell_knows_its_head() -> None:
    made = table(
        ("What", "When", 'A "b"'), [[effect("warn"), time("2026-03-01T10:00:00.1Z"), number(1)]]
    )
    assert '<th class="warn">What</th><th class="time">When</th><th class="n">' in made
    assert '<td class="time" data-head="When">2026-03-01 10:00:00</td>' in made
    assert '<td class="n" data-head="A &quot;b&quot;">1</td>' in made
    assert "<th" in table(("What",), [])


def test_nothing_is_said_of_nothing() -> None:
    assert "".join(all_remarks((), (), ())) == ""
    made = report_page("<t>", ["<h1>x</h1>", "", "<p>y</p>"])
    assert "<h1>x</h1>\n<p>y</p>" in made
    assert "t" not in read_page(made).names
