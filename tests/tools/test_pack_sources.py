"""What the tools make of the sources in `data/`: columns stay beside a type, packs without them."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.paths import ROOT


def tool(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module(name)


TYPE = {
    "fields": {
        "zone": {"number": 2, "type": "string"},
        "area": {"number": "1.1", "items": "int32"},
    },
    "embeds": {"1": "Place"},
    "ptr": ["zone"],
    "internal": ["Zone"],
    "rules": [["required", "zone"]],
    "since": "1.34",
}


def test_the_schema_pack_has_no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    structure = tool("pack_sources", monkeypatch).structure(TYPE)
    assert structure == {"fields": {"area": {"items": "i"}, "zone": "s"}, "ptr": ["zone"]}
    assert list(structure["fields"]) == ["area", "zone"]


def test_a_type_of_a_new_release_keeps_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {"area": {"items": "int32"}, "new": "string", "zone": "string"}
    made = tool("pack_sources", monkeypatch).with_columns({"fields": fields, "ptr": ["new"]}, TYPE)
    assert list(made["fields"].items()) == [
        ("zone", {"number": 2, "type": "string"}),
        ("area", {"number": "1.1", "items": "int32"}),
        ("new", "string"),
    ]
    assert (made["ptr"], made["embeds"], made["since"]) == (["new"], {"1": "Place"}, "1.34")


def test_embedded_structs_are_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = dict(tool("message_sources", monkeypatch).messages_of("core.v1.Spot", TYPE))
    assert lines == {
        "core.v1.Spot": "2 zone string?\n1 (inline) core.v1.Spot.Place",
        "core.v1.Spot.Place": "1 area int32[]",
    }


@pytest.mark.parametrize(
    ("name", "in_json"),
    [("DNSPolicy", "dnsPolicy"), ("PodIPs", "podIPs"), ("TTY", "tty"), ("X509Data", "x509Data")],
)
def test_go_names_in_json(monkeypatch: pytest.MonkeyPatch, name: str, in_json: str) -> None:
    assert tool("internal_sources", monkeypatch).json_name(name) == in_json
