"""The page in headless Chromium: one visit (`web/test_page.mjs`), and what was seen on it.

Small pictures of every mode, in light, dark and on a phone, are kept in `pictures/`; `make
pictures` takes them again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.commands.playground import SiteServer
from tests.browser import CHROMIUM, needs_browser
from tests.cli.files import run
from tests.playground.built_site import WEB, built_site, needs_site, needs_solver
from tests.servers import serving

pytestmark = [needs_site, needs_browser, pytest.mark.thorough]

ENTRIES = {one.stem: yaml.safe_load(one.read_text()) for one in (WEB / "gallery").glob("*.yaml")}
ANSWERS = {
    "denied": "Denied",
    "invalid": "Refused as invalid",
    "warned": "Admitted, with warnings",
    "admitted": "Admitted",
    "unasked": "Webhooks would be asked",
}
MODES = ("validating", "mutating", "rules", "webhook", "expression")
HAS_SOLVER = not needs_solver.args[0]
LOOKS = (*MODES, "proofs") if HAS_SOLVER else MODES
SHAPES = ("light", "dark", "phone")
KEPT = Path(__file__).parent / "pictures"
REGIONS = KEPT / "regions.json"
MAX_DIFFERENT = 0.1
"""The share of a picture's tiles that may look different from the one that is kept; it is 0.13 at
the least between two modes."""
MAX_MOVED = 0.04
"""How far a part may be from where it was, in shares of the window."""
TURNS = 5
"""That the timer of a page that is alive has while an expression without end is stopped by its
cost: it has fifty a second."""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer(built_site(), 0) as found, serving(found):
        yield found


@pytest.fixture(scope="module")
def seen(server: SiteServer, pictures: Path) -> Any:
    assert CHROMIUM is not None
    words = {
        "--url": server.url,
        "--chromium": CHROMIUM,
        "--pictures": str(pictures),
        "--profile": str(pictures / "profile"),
        "--kept": str(KEPT),
    }
    flags = ["--proofs"] if HAS_SOLVER else []
    script = str(WEB / "test_page.mjs")
    done = subprocess.run(
        ["node", script, *(part for one in words.items() for part in one), *flags],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000] + done.stderr[-1000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_the_gallery_says_what_it_promises(name: str, seen: Any) -> None:
    promised, found = ENTRIES[name]["expect"], seen["gallery"][name]
    assert found["mode"] == ENTRIES[name]["state"]["mode"]
    if "value" in promised:
        assert found["said"].startswith(promised["value"])
    else:
        assert ANSWERS[promised["verdict"]] in found["said"]
        if promised["verdict"] in ("denied", "invalid"):
            assert f" {promised['code']}" in found["said"]


def test_no_complaint_on_the_console(seen: Any) -> None:
    assert seen["console"] == []


def test_nobody_else_is_asked(seen: Any, server: SiteServer) -> None:
    assert seen["hosts"] == [f"127.0.0.1:{server.server_port}"]


def test_a_link_holds_everything(seen: Any) -> None:
    same = seen["links"]["same"]
    assert same["after"] == same["before"] != ""
    assert same["length"] < 4_000


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("cut", "a part of it is missing or changed"),
        ("changed", "damaged"),
        ("version", "version 9; this playground reads version 1"),
        ("nonsense", "does not look like one of the playground"),
        ("json", "damaged"),
    ],
)
def test_damaged_links_say_so(link: str, said: str, seen: Any) -> None:
    assert said in seen["links"][link]


def test_nothing_stands_in_anybody_s_way(seen: Any) -> None:
    """An audit by axe in every mode, in light, dark and on a phone."""
    assert {*seen["axe"]} >= {f"{mode} {shape}" for mode in LOOKS for shape in SHAPES}
    bad = {
        f"{where}: {one['id']}: {one['nodes']}"
        for where, found in seen["axe"].items()
        for one in found
        if one["impact"] in ("serious", "critical")
    }
    assert bad == set()


def test_everything_fits_on_a_phone(seen: Any) -> None:
    assert seen["wide"] == []


def test_the_keyboard_is_enough_and_verdicts_are_heard(seen: Any) -> None:
    assert seen["tab"] == "tab-request-oldObject"
    assert seen["label"].startswith("Old object: ")
    assert seen["heard"].startswith(("Denied. ", "Value "))


def test_fields_and_expressions_are_completed(seen: Any) -> None:
    found = seen["completions"]
    assert "hostNetwork" in found["field"]
    assert "replicas" not in found["field"]
    assert "replicas" in found["kind"]
    assert "lowerAscii" in found["function"]


def test_releases_are_compared(seen: Any) -> None:
    assert "Kubernetes 1.30 instead of 1.36" in seen["compared"]
    assert "undeclared reference to 'sortBy'" in seen["compared"]
    assert "lists.range" in seen["compared"]


def test_files_that_are_dropped_fill_the_panes(seen: Any) -> None:
    assert seen["dropped"].startswith("Denied 422")
    assert "failed expression: has(object.metadata.labels.app)" in seen["dropped"]


def test_what_is_exported_passes(
    seen: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in seen["exported"].items():
        (tmp_path / name).write_text(text)
    code, out, err = run(capsys, "test", str(tmp_path / "policy.policytest.yaml"))
    assert code == 0, (out, err)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("large", "Admitted"),
        ("deep", "nested deeper than 10000 levels"),
        ("unclosed", "did not find expected node content"),
        ("bomb", "document contains excessive aliasing"),
        ("nested", "expression recursion limit exceeded"),
        ("binary", "control characters are not allowed"),
        ("markup", 'no matches for kind "<img src=x onerror=alert(1)>"'),
        ("endless", "operation cancelled: actual cost limit exceeded"),
    ],
)
def test_hostile_input_is_answered(name: str, said: str, seen: Any) -> None:
    assert said in seen["hostile"][name]["said"]


def test_what_takes_long_does_not_freeze_the_page(seen: Any) -> None:
    assert seen["hostile"]["endless"]["turns"] >= TURNS


def test_what_takes_too_long_can_be_stopped(seen: Any) -> None:
    found = seen["hostile"]["stopped"]
    assert "stopped" in found["said"]
    assert found["then"].startswith("2")


@needs_solver
@pytest.mark.parametrize(
    ("question", "heard", "said"),
    [
        ("prove", "1 validation, 1 with findings, 0 not decided", "can fail: CREATE of Pod"),
        ("diff", "differs: 1 looser", "now: admitted"),
        ("claim", "1 counterexample", "all that is admitted: object.spec.containers.all("),
    ],
)
def test_a_question_is_answered_beside_the_policies(
    question: str, heard: str, said: str, seen: Any
) -> None:
    found = seen["proofs"]["answers"][question]
    assert found["heard"] == heard
    assert found["progress"].startswith(f"{heard} (")
    assert said in found["said"]
    assert "Decide this request" in found["said"]


@needs_solver
def test_an_example_is_put_into_the_panes_and_taken_back(seen: Any) -> None:
    found = seen["proofs"]
    assert found["decided"]["said"].startswith("Admitted")
    assert (found["decided"]["tab"], found["decided"]["focus"]) == ("true", "verdict")
    assert found["back"] == {"object": 1, "tab": "true"}
    assert found["outdated"] == "These answers are about the texts as they were."


@needs_solver
def test_a_proof_holds_nobody_up_and_can_be_stopped(seen: Any) -> None:
    found = seen["proofs"]["stopped"]
    assert found["busy"] == "true", "the page decided what was typed meanwhile"
    assert "stopped" in found["said"]
    assert found["enabled"]


@needs_solver
def test_proofs_are_where_there_is_something_to_prove(seen: Any) -> None:
    assert seen["proofs"]["arrow"] == "tab-verdict"
    assert "did not find expected node content" in seen["proofs"]["broken"]
    assert not seen["proofs"]["elsewhere"]


def test_the_page_starts_from_the_image_that_is_built_with_it(seen: Any) -> None:
    assert seen["started"] == "image"


def test_every_mode_looks_as_it_is_kept(seen: Any, pictures: Path) -> None:
    names = {f"{mode}-{shape}" for mode in LOOKS for shape in SHAPES}
    if os.environ.get("CELADON_KEEP_PICTURES"):
        for name in names:
            shutil.copy(pictures / f"{name}.webp", KEPT)
        REGIONS.write_text(json.dumps(seen["regions"], indent=1) + "\n")
        return
    assert {name for name, far in seen["pictures"].items() if far is None} == set()
    assert {n: far for n, far in seen["pictures"].items() if far > MAX_DIFFERENT} == {}
    assert {*seen["pictures"]} == names
    assert seen["apart"] > MAX_DIFFERENT, "two modes would look the same"


def test_every_part_is_where_it_was(seen: Any) -> None:
    kept = json.loads(REGIONS.read_text())
    moved = {
        (name, part)
        for name, parts in kept.items()
        if name in seen["regions"]
        for part, place in parts.items()
        for one, other in zip(place, seen["regions"][name][part], strict=True)
        if abs(one - other) > MAX_MOVED * (4 if name.endswith("phone") else 1)
    }
    assert moved == set()
