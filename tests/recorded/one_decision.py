"""One decision everywhere: recorded policy scenarios, asked in every way that can express them.

`python -m tests.recorded.one_decision` asks all of them (`--every N`: one in so many): the
playground in the Python of browsers, the same natively, `celadon check`, the library, the server in
process and the webhook in front of it. What the playground says is compared byte for byte between
the two Pythons and with `check`; what is said to clients, with the recorded answer, by all.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from celadon.cli.check.check_run import check
from celadon.cli.check.object_judging import JudgedObject
from celadon.cli.main import main as celadon
from celadon.cli.playground.browser_api import answer
from celadon.cli.playground.judging import Desk
from celadon.cli.playground.panes import state_of
from celadon.cli.reading.documents import Problem
from tests.apiserver.replaying import replayed_together as served
from tests.paths import ROOT
from tests.playground.built_site import built_site
from tests.recorded.test_check import FOLDER, INEXPRESSIBLE, Question, questions
from tests.recorded.test_playground import OURS, state_of_question
from tests.recorded.webhook_replaying import BEYOND
from tests.recorded.webhook_replaying import replayed_all as enforced

LEAST: Final = 150
"""Scenarios that are to be asked, at the least."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a scenario, and the state in which the page asks it."""

    scenario: Path
    question: Question
    state: str


def asked(paths: Sequence[Path]) -> list[Asked]:
    """Those of all scenarios that the page can be asked."""
    return [
        Asked(path, one, json.dumps(state_of_question(one)))
        for path in paths
        for one in questions(json.loads(path.read_text()))
    ]


def in_browsers(states: Sequence[str], site: Path, *words: str) -> list[str]:
    """What the Python of browsers says to each; `words` are options of `web/decide.mjs`."""
    done = subprocess.run(
        ["node", str(ROOT / "web" / "decide.mjs"), str(site), *words],
        input="".join(f"{one}\n" for one in states),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def by_check(one: Asked, folder: Path) -> Any:
    """What `celadon check` says of the object, without places."""
    cluster, wanted = folder / "cluster.json", folder / "wanted.yaml"
    items = {"kind": "List", "apiVersion": "v1", "items": one.question.cluster}
    cluster.write_text(json.dumps(items))
    given = one.question.wanted
    wanted.write_text(given if isinstance(given, str) else json.dumps(given))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        celadon(["check", "-f", str(cluster), "-o", "json", *one.question.options, str(wanted)])
    return without_places(json.loads(out.getvalue())["objects"])


def without_places(found: Any) -> Any:
    """Files have other names than panes."""
    if isinstance(found, dict):
        return {
            key: without_places(one) for key, one in found.items() if key not in ("file", "line")
        }
    return [without_places(one) for one in found] if isinstance(found, list) else found


def as_recorded(found: Any, answered: Any) -> bool:
    """Whether a client is told the same."""
    (one,) = found
    refused = answered["code"] != 201
    message = answered["body"].get("message", one.get("message")) if refused else None
    said = [text.encode("latin-1").decode() for text in answered["warnings"]]
    return bool(
        one["allowed"] is not refused
        and (not refused or one["code"] == answered["code"])
        and (one.get("message"), one.get("warnings", [])) == (message, said)
    )


def disagreements(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The name of each scenario in which somebody says something else, and who."""
    every = asked(paths)
    texts = in_browsers([one.state for one in every], built_site())
    with tempfile.TemporaryDirectory() as folder:
        for one, text in zip(every, texts, strict=True):
            if text != answer("verdict", one.state):
                yield one.scenario.stem, "the Python of browsers"
            found = without_places(json.loads(text)["report"]["objects"])
            beyond_check = one.scenario.stem in INEXPRESSIBLE
            if not beyond_check and json.dumps(found) != json.dumps(by_check(one, Path(folder))):
                yield one.scenario.stem, "check"
            if not as_recorded(found, one.question.answer):
                yield one.scenario.stem, "the recorded server"
            if not by_the_library(one):
                yield one.scenario.stem, "the library"
    for path, different in served(paths, 1):
        if different:
            yield path.stem, "serve"
    late = _enforced_differently(paths)
    again = _enforced_differently([one for one in paths if one.stem in late])
    yield from ((name, "webhook") for name in sorted(again))


def _enforced_differently(paths: Sequence[Path]) -> set[str]:
    """Who differs is asked again: a webhook on a busy machine may be too late once."""
    found = {name.rpartition("/")[2] for name, different in enforced(paths) if different}
    return found - BEYOND.keys()


def by_the_library(one: Asked) -> bool:
    """Whether an engine of the same policies says what its part of the answer is."""
    found = list[JudgedObject]()
    inputs = Desk().inputs(state_of(json.loads(one.state)))
    assert not isinstance(inputs, Problem), "the page could ask it"
    check(inputs, lambda _: None, found.append)
    (judged,) = found
    denied = judged.result.denial
    if judged.result.is_refused and denied is None:
        return True  # the server refused it, no policy
    verdict = judged.engine.review(judged.document_request.request, judged.world)
    if denied is None:
        return verdict.allowed
    return not verdict.allowed and verdict.message == judged.result.sentence


def expressible() -> list[Path]:
    """Scenarios that the page can be asked something of."""
    paths = [one for one in sorted(FOLDER.glob("*.json")) if one.stem not in OURS]
    return [one for one in paths if asked([one])]


def main() -> None:
    """All of them, or a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    paths = expressible()[:: options.every]
    wrong = list(disagreements(paths))
    print(f"{len(paths)} scenarios", *wrong, sep="\n")  # noqa: T201 - a command
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
