"""Parts of a page that different commands write."""

from __future__ import annotations

import pytest
from bench.page_parts import SERVER_PART, WEBHOOK_PART, kept_parts, with_part

SERVER = f"{SERVER_PART}\n\nserver\n"
WEBHOOK = f"{WEBHOOK_PART}\n\nwebhook\n"


@pytest.mark.parametrize("page", ["head\n", f"head\n\n{SERVER}", f"head\n\n{SERVER}\n{WEBHOOK}"])
def test_parts_are_replaced_in_their_places(page: str) -> None:
    both = with_part(with_part(page, WEBHOOK_PART, WEBHOOK), SERVER_PART, SERVER)
    assert both == f"head\n\n{SERVER}\n{WEBHOOK}"
    changed = with_part(both, SERVER_PART, SERVER.replace("server\n", "other\n"))
    assert changed == both.replace("server\n", "other\n")
    assert kept_parts(both) == f"{SERVER}\n{WEBHOOK}"
    assert kept_parts("head\n") == ""
