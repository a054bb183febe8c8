"""Each store, as for the tests of stores."""

from __future__ import annotations

from tests.store.conftest import store

__all__ = ["store"]
