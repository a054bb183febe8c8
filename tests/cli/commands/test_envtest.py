"""`celadon envtest`, in the words of `setup-envtest`."""

from __future__ import annotations

import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from celadon.cli import output
from celadon.cli.envtest.asset_folders import this_platform
from celadon.cli.main import main

HERE = "/".join(this_platform())
SUFFIX = "-".join(this_platform())


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBEBUILDER_ASSETS", "ENVTEST_INSTALLED_ONLY", "ENVTEST_USE_ENV"):
        monkeypatch.delenv(name, raising=False)


class Envtest:
    """The command with a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def path(self, version: str) -> str:
        return str(self.folder / "k8s" / f"{version}-{SUFFIX}")

    def __call__(self, *words: str) -> tuple[int, str, str]:
        code = main(["envtest", *words, "--bin-dir", str(self.folder)])
        shown = self._capsys.readouterr()
        return code, shown.out, shown.err


@pytest.fixture
def envtest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Envtest:
    return Envtest(tmp_path, capsys)


def test_use_in_its_three_forms(envtest: Envtest) -> None:
    path = envtest.path("1.33.0")
    assert envtest("use", "1.33", "-p", "path") == (0, path, "")
    assert envtest("-p", "env", "use", "1.33.x") == (
        0,
        f"export KUBEBUILDER_ASSETS='{path}'\n",
        "",
    )
    overview = f"Version: 1.33.0\nOS/Arch: {HERE}\nPath: {path}\n"
    assert envtest("use", "1.33.0", "--print=overview") == (0, overview, "")


def test_people_see_more_than_scripts(envtest: Envtest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`KUBEBUILDER_ASSETS=$(celadon envtest use 1.33)` is a path."""
    path = envtest.path("1.33.0")
    assert envtest("use", "1.33") == (0, path, "")
    monkeypatch.setattr(output, "is_terminal", lambda stream: stream is sys.stdout)
    shown = f"Version: 1.33.0\nOS/Arch: {HERE}\nPath: {path}\n"
    assert envtest("use", "1.33") == (0, shown, "")


def test_use_without_a_version_is_the_latest(envtest: Envtest) -> None:
    assert envtest("use", "-p", "path")[1] == envtest.path("1.36.0")
    assert envtest("use", "~1.34.2", "-p", "path")[1] == envtest.path("1.34.2")
    assert envtest("use", "1.34!", "-p", "path")[1] == envtest.path("1.34.2")


def test_what_is_there_and_what_can_be(envtest: Envtest) -> None:
    envtest("use", "1.33")
    installed = f"(installed)  v1.33.0  {HERE}\n"
    assert envtest("installed") == (0, installed, "")
    assert envtest("list", "-i") == (0, installed, "")
    assert envtest("list", "<=1.33")[1].splitlines() == [
        installed.rstrip(),
        *(f"(available)  v1.{minor}.0  {HERE}" for minor in (33, 32, 31, 30)),
    ]


def test_only_what_is_installed(envtest: Envtest) -> None:
    assert envtest("use", "-i", "1.33") == (
        2,
        "",
        "error: no assets of `1.33` are installed (see `list -i`)\n",
    )
    assert envtest("use", "-i", "1.33.0")[0] == 2
    envtest("use", "1.33")
    assert envtest("use", "-i", "latest", "-p", "path")[1] == envtest.path("1.33.0")
    assert envtest("use", "latest-on-disk", "-p", "path")[1] == envtest.path("1.33.0")
    assert envtest("use", "-i", "--force")[2] == (
        "error: `--installed-only` and `--force` exclude each other\n"
    )


def test_cleanup_takes_away_what_is_meant(envtest: Envtest) -> None:
    for version in ("1.31", "1.33"):
        envtest("use", version)
    assert envtest("cleanup", "<1.33") == (0, f"removed 1.31.0 ({HERE})\n", "")
    foreign = Path(envtest.path("1.30.0"))
    foreign.mkdir()
    assert envtest("cleanup") == (
        0,
        f"removed 1.33.0 ({HERE})\n",
        f"warning: `{foreign}` was not made by Celadon: it stays\n",
    )
    assert envtest("use", "1.30.0")[2] == (
        f"error: `{foreign}` was not made by Celadon: name another `--bin-dir`\n"
    )


def test_the_folder_of_the_environment(envtest: Envtest, monkeypatch: pytest.MonkeyPatch) -> None:
    envtest("use", "1.31")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", envtest.path("1.31.0"))
    assert envtest("use", "1.33", "--use-env", "-p", "path")[1] == envtest.path("1.31.0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "/nowhere")
    assert envtest("use", "1.33", "--use-env", "-p", "path")[1] == envtest.path("1.33.0")


@pytest.mark.parametrize(
    ("folder", "shown"),
    [
        ("k8s/1.19.2-darwin-arm64", ("1.19.2", "darwin/arm64")),  # of elsewhere, and not looked at
        ("mine", ("*", "*/*")),
    ],
)
def test_what_is_known_of_the_folder_of_the_environment(
    envtest: Envtest, monkeypatch: pytest.MonkeyPatch, folder: str, shown: tuple[str, str]
) -> None:
    envtest("use", "1.31")
    given = envtest.folder / folder
    given.parent.mkdir(exist_ok=True)
    Path(envtest.path("1.31.0")).rename(given)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(given))
    version, platform = shown
    assert envtest("use", "--use-env", "-p", "overview") == (
        0,
        f"Version: {version}\nOS/Arch: {platform}\nPath: {given}\n",
        "",
    )
    assert envtest("sideload", "--use-env", "1.33.0")[1] == envtest.path("1.33.0")


def test_folders_of_other_machines(envtest: Envtest) -> None:
    envtest("use", "1.33.10")
    other = envtest.folder / "k8s" / "1.33.2-plan9-arm64"
    Path(envtest.path("1.33.10")).rename(other)
    envtest("use", "1.33.10")
    theirs, ours = "(installed)  v1.33.2   plan9/arm64\n", f"(installed)  v1.33.10  {HERE}\n"
    assert envtest("installed")[1] == ours
    assert envtest("installed", "--os=*", "--arch", "*")[1] == ours + theirs
    assert envtest("list", "--os=plan9", "--arch", "*")[1] == theirs.replace("2   ", "2  ")
    assert envtest("cleanup", "--os=plan9", "--arch=*")[1] == "removed 1.33.2 (plan9/arm64)\n"
    assert envtest("installed", "--os=*", "--arch=*")[1] == ours


def test_sideload_needs_no_archive(envtest: Envtest, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read all the same: who writes it would fail."""
    archive = BytesIO(b"x" * 3_000_000)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(archive))
    assert envtest("sideload", "1.33.1", "-p", "path") == (
        0,
        envtest.path("1.33.1"),
        "warning: the archive is not used: the programs come with Celadon\n",
    )
    assert not archive.read()


def test_sideload_needs_a_whole_version(envtest: Envtest) -> None:
    assert envtest("sideload", "1.33")[::2] == (
        2,
        "error: `sideload` needs a whole version, such as 1.33.0\n",
    )


def test_switches_may_have_values(envtest: Envtest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVTEST_INSTALLED_ONLY", "1")
    path = envtest.path("1.33.0")
    assert envtest("use", "1.33", "-p", "path", "--force=t")[0] == 2
    words = ("--installed-only=false", "--use-env=F", "--force=0")
    assert envtest("use", "1.33", "-p=path", *words) == (0, path, "")
    assert envtest("use", "-i=true", "1.33", "-p", "path") == (0, path, "")
    assert envtest("use", "1.33", "--force=maybe")[0] == 2


def test_version(envtest: Envtest) -> None:
    assert envtest("version")[1].startswith("celadon 0.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["use", "1.29"], "`1.29` is none of the releases 1.30 to 1.36"),
        (["use", "1.29.1"], "`1.29.1` is none of the releases"),
        (["use", "one"], "`one` is not a version"),
        (["use", "1.33", "--os", "plan9"], "--os plan9: the programs are for this machine"),
    ],
)
def test_what_there_is_not(envtest: Envtest, words: list[str], message: str) -> None:
    code, out, err = envtest(*words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_folder_that_cannot_be_written(envtest: Envtest, tmp_path: Path) -> None:
    (tmp_path / "k8s").write_text("a file")
    code, _, err = envtest("use", "1.33")
    assert code == 2
    assert err.startswith(f"error: `{tmp_path / 'k8s'}")


@pytest.mark.parametrize(
    "words",
    [
        ("--index", "https://x", "--verify=false", "-v=info", "--os", "*", "--arch", "*"),
        ("--v=debug", "--arch=*"),
        ("--remote-bucket=x", "--remote-server", "y", "--use-deprecated-gcs=false", "--verify"),
    ],
)
def test_what_setup_envtest_has_besides(envtest: Envtest, words: tuple[str, ...]) -> None:
    assert envtest("use", "1.33", "-p", "path", *words)[:2] == (0, envtest.path("1.33.0"))
