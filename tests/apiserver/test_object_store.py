"""Objects on a store of bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from celadon.apiserver import object_store
from celadon.apiserver.object_store import (
    ObjectSelection,
    ObjectStore,
    StoredObject,
    decoded,
    encoded,
    field_text,
)
from celadon.apiserver.request_info import ListOptions
from celadon.kube import GroupVersionResource, JsonObject
from celadon.kube.selectors import parse_field_selector
from celadon.storage import Conflict, Entry, StoreClosed, open_memory
from celadon.storage.local_store import Clocks
from tests.apiserver.serving import Shelf, config_map, resource


def test_the_resource_version_is_the_revision_of_the_entry() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        made = await shelf.create("x")
        assert made.object["metadata"]["resourceVersion"] == str(made.revision)
        assert list(made.object["metadata"]) == ["name", "namespace", "uid", "resourceVersion"]
        changed = await shelf.update("x", k="v")
        assert changed.revision == made.revision + 1
        assert shelf.objects.get(resource(), "a", "x") == changed

    asyncio.run(scenario())


class Held:
    """A store that tells nobody what became of their writes until it is let go."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], object]] = []
        self.store = open_memory(carry=self._waiting.append)
        self.objects = ObjectStore(self.store)

    async def begin(self) -> asyncio.Task[StoredObject | None]:
        """A create that waits."""
        creating = self.objects.create(resource(), "a", "x", config_map("x"))
        task = asyncio.create_task(creating)
        await asyncio.sleep(0)
        assert not task.done()
        return task

    def let_go(self) -> None:
        for function in self._waiting:
            function()


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_write_is_told_of_on_the_loop(*, is_elsewhere: bool) -> None:
    async def scenario() -> None:
        held = Held()
        creating = await held.begin()
        if is_elsewhere:
            await asyncio.to_thread(held.let_go)
        else:
            held.let_go()
        created = await creating
        assert created is not None
        assert created.revision == held.store.revision()

    asyncio.run(scenario())


def test_nobody_is_told_of_a_write_who_has_gone() -> None:
    async def scenario() -> Held:
        held = Held()
        creating = await held.begin()
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        held.let_go()
        return held

    assert asyncio.run(scenario()).store.range("").entries, "it had begun"


def test_a_loop_that_is_closed_is_told_of_nothing() -> None:
    loop = asyncio.new_event_loop()
    promise = object_store._LoopPromise(loop)
    loop.close()
    promise.set_result(Conflict(1, ()))
    promise.set_exception(StoreClosed())
    assert not promise.future.done()


def test_what_is_there_already_is_not_written_again() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        made = await shelf.create("x")
        assert await shelf.update("x") == made
        assert shelf.store.revision() == made.revision

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("group", "name", "expires"),
    [("", "events", 1060), ("events.k8s.io", "events", 1060), ("", "configmaps", None)],
)
def test_events_go_by_themselves(group: str, name: str, expires: int | None) -> None:
    async def scenario() -> None:
        store = open_memory(clocks=Clocks(since_1970=lambda: 1000.0))
        objects = ObjectStore(store, event_seconds=60)
        kind = resource(GroupVersionResource(group, "v1", name))
        made = await objects.create(kind, "a", "x", {"metadata": {"name": "x"}})
        assert made is not None
        await objects.update(kind, "a", "x", {"metadata": {"name": "x"}, "k": 1}, made.revision)
        events = store.watch("", 1).take().events
        assert [one.entry and one.entry.expires for one in events] == [expires] * 2

    asyncio.run(scenario())


def test_conflicts_are_values() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        made = await shelf.create("x")
        obj = config_map("x", k="v")
        assert await shelf.objects.create(resource(), "a", "x", obj) is None
        assert await shelf.objects.update(resource(), "a", "x", obj, made.revision - 1) is None
        assert await shelf.objects.delete(resource(), "a", "x", made.revision + 1) is None
        assert await shelf.objects.delete(resource(), "a", "x", made.revision) is not None

    asyncio.run(scenario())


def test_the_same_object_is_the_same_bytes() -> None:
    new = {"metadata": {"name": "x", "uid": "u", "labels": {}}}
    kept = {"metadata": {"name": "x", "uid": "u", "resourceVersion": "7", "labels": {}}}
    assert encoded(new) == encoded(kept)
    custom = {"metadata": {"name": "x"}, "status": {}, "spec": {"b": 1, "a": 2}}
    sorted_again = {"spec": {"a": 2, "b": 1}, "status": {}, "metadata": {"name": "x"}}
    assert encoded(custom, custom=True) == encoded(sorted_again, custom=True)


def test_a_place_that_was_kept_for_the_version_is_used() -> None:
    obj = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "x", "resourceVersion": "5", "labels": {}},
    }
    again = decoded(Entry("/a", encoded(obj, custom=False), 7, 7), 7)
    assert again["metadata"] == {"name": "x", "resourceVersion": "7", "labels": {}}
    assert list(again["metadata"]) == ["name", "resourceVersion", "labels"]


def test_former_objects_do_not_replace_current_ones() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        first = await shelf.create("x")
        watch = shelf.store.watch("/registry/", 1)
        second = await shelf.update("x", k="v")
        _, event = watch.take().events
        assert event.previous is not None
        assert shelf.objects.stored(event.previous) == first
        assert shelf.objects.get(resource(), "a", "x") == second

    asyncio.run(scenario())


def test_a_field_is_looked_at_once_however_many_terms_name_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    def counted(obj: JsonObject, field: str) -> str:
        looks.append(field)
        return field_text(obj, field)

    monkeypatch.setattr(object_store, "field_text", counted)
    terms = ",".join(f"metadata.name!=n{number}" for number in range(300))
    options = ListOptions(fields=parse_field_selector(terms), has_selector=True)
    selection = ObjectSelection.of(options)
    assert selection.matches(config_map("a"))
    assert not selection.matches(config_map("n7"))
    assert looks == ["metadata.name"] * 2
    assert ObjectSelection.of(options).fields is selection.fields


KUBELET = {"kind": "Event", "source": {"component": "kubelet"}, "reportingComponent": "other"}
IPS = {"kind": "Pod", "status": {"podIP": "10.1.1.1", "podIPs": [{"ip": "10.1.1.1"}]}}


@pytest.mark.parametrize(
    ("obj", "field", "text"),
    [
        (KUBELET, "source", "kubelet"),
        ({**KUBELET, "source": {"host": "h"}}, "source", "other"),
        ({"kind": "Event", "reportingComponent": "new"}, "source", "new"),
        ({"kind": "Event"}, "source", ""),
        (KUBELET, "reportingComponent", "other"),
        ({"kind": "Widget", "source": "x"}, "source", "x"),
        (IPS, "status.podIP", "10.1.1.1"),
        (IPS, "status.podIPs", ""),
        ({"kind": "Pod"}, "spec.hostNetwork", "false"),
        ({"kind": "Pod", "spec": {"hostNetwork": True}}, "spec.hostNetwork", "true"),
        ({"kind": "ReplicationController"}, "status.replicas", "0"),
        ({"kind": "Job", "status": {"succeeded": 2}}, "status.successful", "2"),
    ],
)
def test_fields_as_selectors_compare_them(obj: JsonObject, field: str, text: str) -> None:
    assert field_text(obj, field) == text
