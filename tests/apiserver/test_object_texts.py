"""Texts of stored objects: written once, joined for lists, forgotten when there are too many."""

from __future__ import annotations

from celadon.apiserver.object_store import ObjectTexts, weight
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


def test_a_list_finds_much_of_what_it_wrote_the_last_time_though_not_all_has_room() -> None:
    objects = [named(f"x{number}") for number in range(1000)]
    heavy = weight(ObjectTexts().whole(objects[0], resource()))
    texts = ObjectTexts(most=600 * heavy)
    items = texts.items(objects, resource())
    written: list[str] = []

    class Watched(dict[str, object]):
        """Notes that it is written."""

        def get(self, key: str, default: object = None) -> object:
            written.append(key)
            return super().get(key, default)

    watched = [Watched(obj) for obj in objects]
    for _ in range(20):
        assert texts.items(watched, resource()) == items
    written.clear()
    texts.items(watched, resource())
    assert len(written) < 600, "that is how many have no room, and a few that were pushed out"


def test_what_comes_before_and_after_items_is_there_without_any() -> None:
    assert ObjectTexts().items([], resource(), b"[", b"]") == b"[]"
    assert ObjectTexts().items([named("x")], resource(), b"[", b"]") == (
        b'[{"metadata":{"name":"x"}}]'
    )
