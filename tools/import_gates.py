"""Writes into `data/feature_gates.json` what one release says of its feature gates.

    python tools/import_gates.py FOLDER GO_SOURCES

reads `FOLDER/version.json`, and the gates of that server: `FOLDER/feature-gates.json` (its metrics)
and `FOLDER/feature-gates-help.txt` (`--help`), of which either may lack some. Which gates are
locked and what they depend on stands only in the Go sources of the release. What other releases say
stays.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pack_sources import SOURCES, levels_of, text_of

Json = Any
Minor = tuple[int, ...]

OLDEST: Final = (1, 30)
"""The first release that is told apart; what older ones say is only kept."""
GONE: Final = "gone"

_HELP: Final = re.compile(
    r"^\s*(?:kube:)?(\w+)=true\|false \((ALPHA|BETA|DEPRECATED|GA) - default=(true|false)\)", re.M
)
_NAME: Final = re.compile(r'(\w+)\s+(?:\w+\.)?Feature\s*=\s*"(\w+)"')
_ENTRY: Final = re.compile(r"^\t+(?:\w+\.)?(\w+):\s*\{", re.M)
_SPEC: Final = re.compile(r"\{([^{}]*PreRelease[^{}]*)\}")
_NEEDS: Final = re.compile(r"Dependencies = map\[[\w.]+\]\[\][\w.]+\{(.*?)^\}", re.M | re.S)
_NEEDS_ENTRY: Final = re.compile(r"^\t(?:\w+\.)?(\w+):\s*\{(.*?)\}", re.M | re.S)


def main(folder: Path, go: Path, data: Path = SOURCES) -> None:
    path = data / "feature_gates.json"
    histories = json.loads(path.read_text(encoding="utf-8"))
    release = _minor(json.loads((folder / "version.json").read_text())["release"])
    made = with_release(histories, release, gates_of(folder, go))
    path.write_text(text_of(made, levels_of(path)), encoding="utf-8")


def gates_of(folder: Path, go: Path | None) -> dict[str, Json]:
    """By gate, what a release says: a stage without `since`."""
    names, locked, needs = (frozenset(), frozenset(), {}) if go is None else go_facts(go)
    metrics = json.loads((folder / "feature-gates.json").read_text())
    found = {name: (one["stage"] or "GA", one["enabled"]) for name, one in metrics.items()}
    help_text = (folder / "feature-gates-help.txt").read_text()
    for name, stage, default in _HELP.findall(help_text):
        found.setdefault(name, (stage, default == "true"))
    made = {}
    for name, (stage, on) in found.items():
        made[name] = {"stage": stage.lower(), "default": on}
        if name in locked:
            made[name]["locked"] = True
        if name in needs:
            made[name]["needs"] = needs[name]
        if go is not None and name not in names and name not in ("AllAlpha", "AllBeta"):
            sys.stderr.write(f"{name} is not in the Go sources\n")
    return made


def go_facts(root: Path) -> tuple[frozenset[str], frozenset[str], dict[str, list[str]]]:
    """The names of all gates, those that are locked in the last stage that the sources have of
    them, and what gates depend on."""
    texts = [
        re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.go"))
        if "feature" in str(path.relative_to(root)).lower() and not path.stem.endswith("_test")
    ]
    names = {variable: name for text in texts for variable, name in _NAME.findall(text)}
    locked: set[str] = set()
    needs: dict[str, list[str]] = {}
    for text in texts:
        for match in _ENTRY.finditer(text):
            specs = _SPEC.findall(_braced(text, match.end() - 1))
            if specs and match[1] in names and re.search(r"LockToDefault:\s*true", specs[-1]):
                locked.add(names[match[1]])
        for body in _NEEDS.findall(text):
            for variable, listed in _NEEDS_ENTRY.findall(body):
                words = (one.rpartition(".")[2] for one in re.findall(r"[\w.]+", listed))
                others = [names[one] for one in words if one in names]
                if others and variable in names:
                    needs[names[variable]] = others
    return frozenset(names.values()), frozenset(locked), needs


def _braced(text: str, start: int) -> str:
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[start : place + 1]
    return text[start:]


def with_release(
    histories: Mapping[str, Json], release: Minor, gates: Mapping[str, Json]
) -> dict[str, Json]:
    """The histories of all gates, in which a release says this. A stage begins in the first release
    that says it; one that begins before `OLDEST` keeps its beginning."""
    made = {}
    latest = max([release, *(_minor(one["since"]) for all_ in histories.values() for one in all_)])
    for name in sorted({*histories, *gates}):
        history = histories.get(name, [])
        earlier = [one for one in history if _minor(one["since"]) < OLDEST]
        stages = list(earlier)
        for minor in _minors(latest):
            now = gates.get(name) if minor == release else state_at(history, minor)
            before = {**stages[-1]} if stages else None
            if before is not None:
                del before["since"]
            if now is None and (before is None or before["stage"] == GONE):
                continue
            now = now or {"stage": GONE}
            if now != before:
                stages.append({"since": _text(minor), **now})
        if len(stages) > len(earlier) and _minor(stages[len(earlier)]["since"]) == OLDEST:
            stages = stages[len(earlier) :]
        stages = _without_beginnings_before(stages)
        if stages:
            made[name] = stages
    return made


def _without_beginnings_before(stages: list[Json]) -> list[Json]:
    """Of the stages that ended before `OLDEST` nothing is said."""
    reached = [place for place, one in enumerate(stages) if _minor(one["since"]) <= OLDEST]
    kept = stages[reached[-1] :] if reached else stages
    return kept[1:] if kept and kept[0]["stage"] == GONE else kept


def state_at(history: list[Json], minor: Minor) -> Json:
    """What a release says of a gate; None where it has none."""
    reached = [one for one in history if _minor(one["since"]) <= minor]
    if not reached or reached[-1]["stage"] == GONE:
        return None
    return {key: value for key, value in reached[-1].items() if key != "since"}


def _minors(latest: Minor) -> Iterator[Minor]:
    return ((1, minor) for minor in range(OLDEST[1], latest[1] + 1))


def _minor(text: str) -> Minor:
    return tuple(map(int, text.split(".")))


def _text(minor: Minor) -> str:
    return ".".join(map(str, minor))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
