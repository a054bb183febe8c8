"""Texts of stored objects: written once, joined for lists, forgotten when there are too many."""

from __future__ import annotations

from celadon.apiserver.object_store import ObjectTexts
from tests.apiserver.serving import resource


def named(name: str) -> dict[str, object]:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}


def test_a_text_is_written_once() -> None:
    texts, obj = ObjectTexts(), named("x")
    first = texts.whole(obj, resource())
    assert first == b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}'
    assert texts.whole(obj, resource()) is first
    assert texts.whole(dict(obj), resource()) is not first


def test_items_do_not_say_what_they_are_whatever_their_order() -> None:
    turned = {"metadata": {"name": "y"}, "kind": "ConfigMap", "apiVersion": "v1"}
    items = ObjectTexts().items([named("x"), turned], resource())
    assert items == b'{"metadata":{"name":"x"}},{"metadata":{"name":"y"}}'


def test_beyond_the_bound_all_are_forgotten() -> None:
    texts, obj = ObjectTexts(most=1000), named("x")
    first = texts.whole(obj, resource())
    assert texts.whole(named("y"), resource()) != first
    assert texts.whole(obj, resource()) is not first
