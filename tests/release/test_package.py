"""The wheel: complete, small, the same each time, and enough for what the first pages do."""

from __future__ import annotations

import contextlib
import email
import http.client
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path
from typing import Final

import pytest

from celadon import __version__
from tests.docs import Shown, shown
from tests.paths import ROOT
from tests.release.built_package import EPOCH, build, built, has_site, installed, needs_builder
from tools import krew_plugin

pytestmark = [needs_builder, pytest.mark.thorough]

MAX_BYTES: Final = 30_000_000
"""Most of it is the page of the playground with its Python and its solver (decision 0050)."""
DATA: Final = f"celadon-{__version__}.data/data"
INFO: Final = f"celadon-{__version__}.dist-info"
HELD: Final = (
    "celadon/py.typed",
    f"{DATA}/share/man/man1/celadon.1",
    f"{DATA}/share/bash-completion/completions/celadon",
    f"{DATA}/share/zsh/site-functions/_celadon",
    f"{DATA}/share/fish/vendor_completions.d/celadon.fish",
    f"{INFO}/licenses/LICENSE",
    f"{INFO}/licenses/NOTICE",
    f"{INFO}/sboms/celadon.cdx.json",
)
FIRST_PAGES: Final = ("README.md", "docs/index.md")
COMMANDS: Final = [
    pytest.param(one, id=f"{page}: {one.command[:60]}")
    for page in FIRST_PAGES
    for one in shown(ROOT / page)
    if one.command.startswith("celadon ")
]


def names() -> list[str]:
    """Of all files in the wheel."""
    with zipfile.ZipFile(built().wheel) as package:
        return package.namelist()


@pytest.mark.parametrize("name", HELD)
def test_the_wheel_holds(name: str) -> None:
    assert name in names()


def test_the_wheel_holds_the_playground() -> None:
    if not has_site:
        pytest.skip("no page could be built: node, or the packages of web/, are missing")
    assert "celadon/cli/playground/site/index.html" in names()


def test_the_wheel_holds_what_the_package_has() -> None:
    source = ROOT / "src"
    wanted = {
        file.relative_to(source).as_posix()
        for file in (source / "celadon").rglob("*")
        if file.is_file() and not {"__pycache__", "site"} & set(file.parts)
    }
    found = {name for name in names() if name.startswith("celadon/") and "/site/" not in name}
    assert found == wanted


def test_the_wheel_is_small() -> None:
    assert built().wheel.stat().st_size < MAX_BYTES


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    again = build(tmp_path)
    assert again.wheel.read_bytes() == built().wheel.read_bytes()
    assert again.sdist.read_bytes() == built().sdist.read_bytes()


def test_an_sdist_becomes_the_wheel_without_the_network(tmp_path: Path) -> None:
    words = ["wheel", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]
    subprocess.run(  # our own interpreter, our own package
        [sys.executable, "-m", "pip", *words, "-w", str(tmp_path), str(built().sdist)],
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
        check=True,
        timeout=600,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.read_bytes() == built().wheel.read_bytes()


@pytest.fixture(scope="module")
def metadata() -> Message:
    with zipfile.ZipFile(built().wheel) as package:
        return email.message_from_bytes(package.read(f"{INFO}/METADATA"))


def test_what_an_index_shows(metadata: Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata["Requires-Python"] == ">=3.11"
    payload = metadata.get_payload()
    assert isinstance(payload, str)
    assert payload.startswith("# Celadon\n")
    kinds = {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])}
    assert kinds == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_one_extra_brings_all(metadata: Message) -> None:
    needs: dict[str, set[str]] = {}
    for one in metadata.get_all("Requires-Dist", []):
        extra = re.search(r"extra == '(\w+)'", one)
        needs.setdefault(extra[1] if extra else "", set()).add(one.partition(";")[0])
    assert needs.pop("") == {"pyyaml>=6.0"}
    assert needs.pop("all") == set().union(
        *(those for extra, those in needs.items() if extra not in ("dev", "docs"))
    )


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A program of the new environment, which knows of nothing else."""
    environment = {"PATH": str(installed()), "HOME": str(folder), "LANG": "C.UTF-8"}
    return subprocess.run(
        [str(installed() / words[0]), *words[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("one", COMMANDS)
def test_commands_of_the_first_pages(one: Shown, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = run(shlex.split(one.command), tmp_path)
    assert done.stderr + done.stdout == one.output


def test_what_needs_more_says_what_to_install(tmp_path: Path) -> None:
    done = run(["celadon", "serve"], tmp_path)
    assert (done.returncode, "pip install 'celadon[serve]'" in done.stderr) == (2, True), done


def test_the_plugin_of_kubectl_is_there(tmp_path: Path) -> None:
    assert run(["kubectl-celadon", "--version"], tmp_path).stdout == f"celadon {__version__}\n"


def test_the_playground_needs_no_other_tool(tmp_path: Path) -> None:
    if not has_site:
        pytest.skip("no page could be built: node, or the packages of web/, are missing")
    with subprocess.Popen(
        [str(installed() / "celadon"), "playground", "--port", "0"],
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            url = re.search(r"http://127\.0\.0\.1:(\d+)/", server.stdout.readline())
            assert url is not None
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(url[1]))) as page:
                page.request("GET", "/")
                answer = page.getresponse()
                assert (answer.status, b"<title>" in answer.read()) == (200, True)
        finally:
            server.terminate()


CONSUMER: Final = """\
from celadon.admission import Engine, ObjectWorld
from celadon.cel import types
from celadon.kube.library import environment

program = environment("1.36").extend({"n": types.INT})
reveal_type(ObjectWorld)
engine: Engine = "no engine"
"""


def test_types_are_there_for_others(tmp_path: Path) -> None:
    (tmp_path / "consumer.py").write_text(CONSUMER, encoding="utf-8")
    python = str(installed() / "python")
    words = ["-m", "mypy", "--strict", "--python-executable", python, "consumer.py"]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env={
            key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MYPYPATH")
        },
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert "celadon.admission" in done.stdout
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, done.stdout
    assert errors[0].endswith(
        'expression has type "str", variable has type "Engine")  [assignment]'
    )


def test_krew_installs_what_the_wheel_holds(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    dist.mkdir()
    shutil.copyfile(built().wheel, dist / built().wheel.name)
    krew_plugin.write(dist, "https://example.com/v1/")
    manifest = (dist / "celadon-krew.yaml").read_text(encoding="utf-8")
    (packed,) = dist.glob("*.tar.gz")
    assert f"uri: https://example.com/v1/{packed.name}\n" in manifest
    assert not re.search(r"\b(VERSION|SOURCE|DIGEST)\b", manifest)
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "store", filter="data")
    link = tmp_path / "kubectl-celadon"
    link.symlink_to(tmp_path / "store" / "kubectl-celadon")  # as krew does
    words = [sys.executable, "-I", "-S", str(link), "eval", "1 + 1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_the_bill_of_materials_is_one() -> None:
    formats = pytest.importorskip("cyclonedx.schema")
    validation = pytest.importorskip("cyclonedx.validation.json")
    with zipfile.ZipFile(built().wheel) as package:
        text = package.read(f"{INFO}/sboms/celadon.cdx.json").decode()
    validator = validation.JsonStrictValidator(formats.SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    parts = {one["name"] for one in json.loads(text)["components"]}
    assert parts >= {"PyYAML", "cryptography", "pyodide", "@codemirror/view"}
    assert not parts & {"ws", "axe-core", "playwright-core", "esbuild"}
