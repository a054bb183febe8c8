"""The page of repaired attacks: `python -m tools.attacks_page > docs/attacks.md`."""

from __future__ import annotations

import sys
from typing import Final

from tests.attacks.undone_repairs import UNDONE

_HEAD: Final = """\
# What was found by attacks

*Reference.* Celadon was attacked, and what was found was repaired. Each of these tests fails
without its repair: `make attacks` undoes one after the other in a copy and sees the test fail.
[Security](security.md) says what is promised.

<!-- Made by `python -m tools.attacks_page > docs/attacks.md`. -->

| attack | the test that fails without the repair |
|---|---|
"""


def page() -> str:
    """The whole page, Markdown."""
    return _HEAD + "".join(f"| {undone.attack} | `{undone.test}` |\n" for undone in UNDONE)


if __name__ == "__main__":
    sys.stdout.write(page())
