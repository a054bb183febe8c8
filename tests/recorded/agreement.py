"""How many recordings agree, as data: `agreement.json`.

`python -m tests.recorded --write` and `python -m tests.conformance.cel --write` bring it up to date
for what they ran.

`tools.fidelity_page` makes a page of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("agreement.json")
SCENARIOS: Final = "scenarios"
EXPRESSIONS: Final = "expressions"


def agreement() -> dict[str, dict[str, Any]]:
    """What is known, by section and then by group."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def note(section: str, numbers: Mapping[str, Mapping[str, int]]) -> None:
    """Put numbers beside those that are known: per group, of so many how many agree in which
    way."""
    known = agreement()
    for group, found in numbers.items():
        known[section][group] = {**known[section].get(group, {}), **found}
    FILE.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
