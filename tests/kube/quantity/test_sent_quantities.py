"""How quantities were written that somebody sent: older servers show it."""

from __future__ import annotations

import contextvars

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext, Run
from celadon.kube.defaulting.workload_defaults import round_milli
from celadon.kube.go.go_text import SHOWN_QUANTITY, go_syntax
from celadon.kube.quantity import note_sent, parse_sent, remember_sent
from celadon.kube.releases import answering_as
from celadon.kube.schemas.value_decoding import null_quantity, quantity
from celadon.kube.validation.pods.internal_types import pod_spec_diff


@pytest.mark.parametrize(
    ("sent", "amount"),
    [
        ("1.5", "value:15, scale:-1"),
        (" .5 ", "value:5, scale:-1"),
        ("1500m", "value:1500, scale:-3"),
        ("1e3", "value:1, scale:3"),
        ("1e4", "value:1, scale:4"),
        ("1.5Gi", "value:0, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(0xc000000000)}"),
    ],
)
def test_amounts_are_shown_as_they_were_sent(sent: str, amount: str) -> None:
    def shown() -> str:
        remember_sent()
        return go_syntax(quantity(sent), "resource.Quantity")

    assert amount in contextvars.copy_context().run(shown)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        *[("1500m", "1500m"), ("2k", "2k"), ("0", "0"), ("1Gi", "1Gi")],
        *[("1.5", ""), ("2000", ""), ("00", ""), ("8Gi", ""), ("1024Mi", ""), ("100Ti", "")],
    ],
)
def test_texts_that_go_holds(text: str, held: str) -> None:
    def shown(type_: str) -> str:
        remember_sent()
        return go_syntax(quantity(text), type_)

    assert f's:"{held}", ' in contextvars.copy_context().run(shown, "resource.Quantity")
    canonical = quantity(text)
    assert f's:"{canonical}", ' in contextvars.copy_context().run(shown, SHOWN_QUANTITY)


def test_who_does_not_ask_keeps_nothing() -> None:
    note_sent("1500m", "1.5")
    assert parse_sent("1500m").text == "1500m"


@pytest.mark.parametrize(
    ("sent", "held"),
    [
        ("1.5Gi", 'd: s"1610612736.000", Format: "BinarySI"'),
        ("0.0Gi", 'd: s"0.000", Format: "BinarySI"'),
        ("0.0000001", 'i: resource.int64Amount{value: 1, scale: -3}, Format: "DecimalSI"'),
        ("100000000000000000000", 'd: s"100000000000000000000.000", Format: "DecimalSI"'),
        ("0", 's: "0", Format: "DecimalSI"'),
        (None, ""),
    ],
)
def test_amounts_of_lists_in_what_older_servers_report(sent: str | None, held: str) -> None:
    def reported() -> str:
        remember_sent()
        amounts = {"cpu": null_quantity() if sent is None else quantity(sent)}
        round_milli(amounts, Run({}, DefaultingContext(), frozenset()))
        return pod_spec_diff({}, {"overhead": amounts})

    with answering_as("1.30"):
        assert f'core.ResourceList{{s"cpu": {{{held}}}}}' in contextvars.copy_context().run(
            reported
        )
