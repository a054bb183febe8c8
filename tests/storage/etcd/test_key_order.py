"""Work on the same key happens in turns."""

from __future__ import annotations

import asyncio

from celadon.storage.etcd.etcd_store import KeyOrder


def test_turns() -> None:
    async def run() -> None:
        order, happened = KeyOrder(), list[str]()
        gates = {name: asyncio.Event() for name in ("one", "two", "three", "four")}

        async def work(name: str, *keys: bytes) -> None:
            async with order.turn(keys):
                happened.append(f"{name} begins")
                await gates[name].wait()

        tasks = [
            asyncio.create_task(work("one", b"a")),
            asyncio.create_task(work("two", b"a", b"b")),
            asyncio.create_task(work("three", b"b")),
            asyncio.create_task(work("four", b"c")),
        ]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert happened == ["one begins", "four begins"]
        for name, then in (("one", "two begins"), ("two", "three begins")):
            gates[name].set()
            for _ in range(5):
                await asyncio.sleep(0)
            assert happened[-1] == then
        for gate in gates.values():
            gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())
