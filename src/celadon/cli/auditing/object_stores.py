"""Dumps in object stores, by their addresses (`s3://bucket/folder/`): what there is, and streams.

fsspec knows the stores (docs/decisions/0033); each needs a package of its own, which it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, cast

from celadon.cli.reading.problems import Problem

_MISSING: Final = "pip install 'celadon[fleet]'"


def stored(addresses: Iterable[str]) -> Iterator[tuple[str, int] | Problem]:
    """Everything at and below these addresses, with its size in bytes."""
    for address in addresses:
        try:
            yield from _below(address)
        except ImportError as error:
            yield Problem(address, 0, f"cannot be read: {error}", _MISSING)
        except Exception as error:  # noqa: BLE001 - each store raises its own
            yield Problem(address, 0, f"cannot be read: {error}")


def _below(address: str) -> Iterator[tuple[str, int] | Problem]:
    import fsspec  # late: an extra

    store, path = fsspec.core.url_to_fs(address)
    found = sorted(store.find(path, detail=True).items())
    if not found:
        yield Problem(address, 0, "there is nothing at this address")
    for name, about in found:
        yield store.unstrip_protocol(name), int(about["size"])


def opened(address: str) -> BinaryIO:
    """A stream that can be read from any place. Raises OSError."""
    import fsspec  # late: an extra

    try:
        return cast(BinaryIO, fsspec.open(address, "rb").open())
    except OSError:
        raise
    except Exception as error:
        raise OSError(str(error)) from error
