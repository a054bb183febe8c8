"""How quantities were written that somebody sent: older servers show it."""

from __future__ import annotations

import contextvars

import pytest

from celadon.kube.go.go_text import go_syntax
from celadon.kube.quantity import note_sent, remember_sent, sent_as
from celadon.kube.schemas.value_decoding import quantity


@pytest.mark.parametrize(
    ("sent", "amount"),
    [
        ("1.5", "value:15, scale:-1"),
        (" .5 ", "value:5, scale:-1"),
        ("1500m", "value:1500, scale:-3"),
        ("1e3", "value:1, scale:3"),
        ("1.5Gi", "value:1610612736, scale:0"),
    ],
)
def test_amounts_are_shown_as_they_were_sent(sent: str, amount: str) -> None:
    def shown() -> str:
        remember_sent()
        return go_syntax(quantity(sent), "resource.Quantity")

    assert amount in contextvars.copy_context().run(shown)


def test_who_does_not_ask_keeps_nothing() -> None:
    note_sent("1500m", "1.5")
    assert sent_as("1500m") == "1500m"
