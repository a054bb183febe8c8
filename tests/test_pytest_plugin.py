"""The fixtures for users' tests, in test runs of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from celadon.testing import KubeApi
from tests.cli.files import binding, config_map, policy
from tests.paths import ROOT

pytest_plugins = ["pytester"]

LOADED = KubeApi
"""Loaded before the runs, which forget what they load: cryptography cannot be loaded twice."""

LASTING = ("celadon", "cryptography", "google", "httpcore", "msgspec", "uvloop", "yaml")
"""Packages that stay loaded behind a run."""

COUNTING = """
    import pytest

    def config_map(name):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}

    @pytest.mark.parametrize("number", [1, 2])
    def test_a_server(kube_api, number):
        kube_api.create(config_map("the-only-one"))
"""


class Loaded:
    """Modules that a run has loaded."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        self.modules.update(sys.modules)


@pytest.fixture(autouse=True)
def loaded() -> Iterator[Loaded]:
    """What runs load stays loaded, though `pytester`, which ends before, forgets it: loaded once
    more, it would have second copies of its classes, which whoever has the first ones does not
    know."""
    found = Loaded()
    yield found
    for name, module in found.modules.items():
        if name.partition(".")[0] in LASTING:
            sys.modules.setdefault(name, module)


@pytest.fixture
def run(loaded: Loaded, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return Runner(pytester, loaded)


class Runner:
    """Runs tests with the plugin and no other, in this process."""

    def __init__(self, pytester: pytest.Pytester, loaded: Loaded) -> None:
        self._pytester = pytester
        self._loaded = loaded

    def __call__(self, *arguments: str, **outcomes: int) -> pytest.RunResult:
        result = self._pytester.runpytest_inprocess(
            "-p", "celadon.pytest_plugin", *arguments, plugins=[self._loaded]
        )
        if outcomes:
            result.assert_outcomes(**outcomes)
        return result


def test_each_test_has_a_server_of_its_own(pytester: pytest.Pytester, run: Runner) -> None:
    pytester.makepyfile(COUNTING)
    run(passed=2)


@pytest.mark.parametrize(
    "arguments", [("--kube-api-scope=module",), ("-o", "kube_api_scope=session")]
)
def test_a_server_can_be_shared(
    pytester: pytest.Pytester, run: Runner, arguments: tuple[str, ...]
) -> None:
    pytester.makepyfile(COUNTING)
    result = run(*arguments, passed=1, failed=1)
    result.stdout.fnmatch_lines(['*RequestRefused: *configmaps "the-only-one" already exists'])


def test_what_a_marker_says(pytester: pytest.Pytester, run: Runner) -> None:
    pytester.makepyfile(
        """
        import pytest

        def namespace(name):
            return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}

        pytestmark = pytest.mark.kube_api(manifests=[namespace("of-module")], version="1.34")

        @pytest.mark.kube_api(manifests=["here/n.yaml", namespace("of-test")], tls=False)
        def test_marked(kube_api):
            assert kube_api.url.startswith("http:")
            assert kube_api.request("GET", "/version")["minor"] == "34"
            for name in ("of-module", "of-file", "of-test"):
                kube_api.request("GET", f"/api/v1/namespaces/{name}")
        """
    )
    pytester.mkdir("here").joinpath("n.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: of-file}\n"
    )
    run(passed=1)


def test_manifests_of_the_configuration(pytester: pytest.Pytester, run: Runner) -> None:
    pytester.makeini("[pytest]\nkube_api_manifests = n.yaml\n")
    pytester.path.joinpath("n.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: everywhere}\n"
    )
    pytester.makepyfile(
        """
        def test_in_every_server(kube_api, new_kube_api):
            other = new_kube_api(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}},
                version="1.35",
            )
            def names(api):
                found = api.request("GET", "/api/v1/namespaces")["items"]
                return {one["metadata"]["name"] for one in found}

            assert "everywhere" in names(kube_api) & names(other)
            assert names(other) - names(kube_api) == {"other"}
            assert other.request("GET", "/version")["minor"] == "35"
        """
    )
    run(passed=1)


def test_servers_end_with_their_tests(pytester: pytest.Pytester, run: Runner) -> None:
    pytester.makepyfile(
        """
        import threading

        def servers():
            return sum(one.name == "celadon-kube-api" for one in threading.enumerate())

        before = servers()

        def test_two(kube_api, new_kube_api):
            new_kube_api()
            assert servers() == before + 2

        def test_none():
            assert servers() == before
        """
    )
    run(passed=2)


def test_a_mark_that_could_have_no_effect(pytester: pytest.Pytester, run: Runner) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kube_api(version="1.34")
        def test_marked(kube_api):
            pass
        """
    )
    result = run("--kube-api-scope=session")
    result.stderr.fnmatch_lines(["*test_marked: the marker `kube_api` on a test needs the scope*"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            "versoin='1.34'",
            "the marker `kube_api` has no `versoin`: there are manifests, version, ",
        ),
        ("'n.yaml'", "the marker `kube_api` takes arguments by name: manifests=[[]...]"),
        ("version='1.20'", "unknown version `1.20`, expected 1.30 to 1.37"),
        ("manifests='none.yaml'", "none.yaml: cannot be read: no such file or directory"),
    ],
)
def test_marks_that_mean_nothing(
    pytester: pytest.Pytester, run: Runner, arguments: str, complaint: str
) -> None:
    mark = f"@pytest.mark.kube_api({arguments})"
    pytester.makepyfile(f"import pytest\n{mark}\ndef test_it(kube_api): ...")
    result = run(errors=1)
    result.stdout.fnmatch_lines([f"*{complaint}*"])
    for line in ("*pytest_plugin.py*", "*During handling*"):
        result.stdout.no_fnmatch_line(line)


def test_a_test_may_expect_that_a_manifest_is_refused(
    pytester: pytest.Pytester, run: Runner
) -> None:
    pytester.makepyfile(
        """
        import pytest
        from celadon.testing import ManifestError, RequestRefused

        def test_it(new_kube_api):
            with pytest.raises(RequestRefused, match="Bad"):
                new_kube_api({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Bad"}})
            with pytest.raises(ManifestError):
                new_kube_api("none.yaml")
        """
    )
    run(passed=1)


def test_a_scope_that_is_none(pytester: pytest.Pytester, run: Runner) -> None:
    result = run("-o", "kube_api_scope=galaxy")
    result.stderr.fnmatch_lines(["*kube_api_scope: `galaxy` is none of function, class, *"])


def test_pytest_finds_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"celadon": "celadon.pytest_plugin"}


def test_who_asks_for_no_server_loads_none() -> None:
    code = "import sys, celadon.pytest_plugin; print([m for m in sys.modules if 'celadon' in m])"
    loaded = subprocess.run(  # our own interpreter, our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.strip() == "['celadon', 'celadon.pytest_plugin']"


def test_it_says_which_packages_are_missing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("import sys; sys.modules['msgspec'] = None")
    pytester.makepyfile("def test_it(kube_api): ...")
    result = pytester.runpytest_subprocess("-p", "celadon.pytest_plugin")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["`msgspec` is not installed: pip install 'celadon[[]serve]'"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*During handling*")


def _policy_test(pytester: pytest.Pytester, *cases: dict[str, Any], **fields: Any) -> None:
    test = {
        "apiVersion": "celadon.dev/v1",
        "kind": "PolicyTest",
        "policies": [policy(), binding()],
        "objects": {"ok": config_map(x="ok")},
        "defaults": {"object": "ok"},
        "cases": [{"name": f"case {i}", **case} for i, case in enumerate(cases)],
        **fields,
    }
    pytester.makefile(".policytest.yaml", limit=json.dumps(test, indent=1))


NO = {"patch": {"data": {"x": "no"}}}


def test_policy_tests_are_collected(pytester: pytest.Pytester, run: Runner) -> None:
    _policy_test(
        pytester,
        {"expect": "admit"},
        {**NO, "expect": "deny", "name": "refused"},
        {"skip": "later", "expect": "deny"},
    )
    run(passed=2, skipped=1)
    run("-k", "refused", passed=1, deselected=2)
    run("-o", "celadon_policy_tests=false", passed=0)


def test_policy_tests_fail_with_reasons(pytester: pytest.Pytester, run: Runner) -> None:
    _policy_test(pytester, {**NO, "expect": "admit"}, kubernetesVersions=["1.30", "1.36"])
    result = run(failed=2)
    result.stdout.fnmatch_lines(
        [
            "FAIL *limit.policytest.yaml:* case 0 (1.30)",
            "  expected verdict: admit",
            "            actual: deny",
            "  *policy `limit` denies: failed expression: *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_doubts_are_warnings(pytester: pytest.Pytester, run: Runner) -> None:
    both = [policy(), binding(), policy("other", "true"), binding("other")]
    _policy_test(pytester, {**NO, "expect": "deny"}, policies=both)
    result = run("-W", "default", passed=1)
    result.stdout.fnmatch_lines(["*any-denial: any of 2 validations could be the reason*"])


def test_unreadable_policy_tests_are_errors(pytester: pytest.Pytester, run: Runner) -> None:
    _policy_test(pytester, {"expect": "admitted"})
    result = run(errors=1)
    result.stdout.fnmatch_lines(["*`cases[[]0[]].expect` must be one of *, did you mean `admit`?"])
