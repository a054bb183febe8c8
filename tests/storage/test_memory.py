"""A store that begins with what another has."""

from __future__ import annotations

import pytest

from celadon.storage import Compacted, create, delete, open_memory, put


def test_a_store_begins_with_the_entries_of_a_page() -> None:
    with open_memory() as first:
        first.submit(create("/a", b"1"))
        first.submit(create("/b", b"2"))
        first.submit(put("/a", b"3"))
        page = first.range("")
        with open_memory(beginning=page) as second:
            assert second.range("") == page
            watch = second.watch("/", page.revision)
            second.submit(delete("/b"))
            assert [one.key for one in watch.take().events] == ["/b"]
            assert second.revision() == page.revision + 1
            with pytest.raises(Compacted):
                second.get("/a", page.revision - 1)
        assert first.range("") == page
