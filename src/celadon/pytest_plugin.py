"""The fixtures `kube_api` and `new_kube_api`, for tests of anything that talks to Kubernetes.

    def test_with_a_client(kube_api):
        api = client.CoreV1Api(kube_api.admin.kubernetes_client())

    @pytest.mark.kube_api(manifests=["policies/", {"apiVersion": "v1", ...}], version="1.34")
    def test_of_a_policy(kube_api): ...

A server is a test's own unless `--kube-api-scope` (or `kube_api_scope` in the configuration) says
that a class, a module, a package or the session shares one. What is named in `kube_api_manifests`
of the configuration is in every server.

Tests of policies, files called `*.policytest.yaml` (or `.yml`, `.json`), are collected: each case
is a test, once for each version of Kubernetes. What `celadon test` only points out is a warning.

pytest loads this module whenever Celadon is installed, so it loads the server only for those who
ask for one, and what runs tests of policies where there are some; that is why it is not in the room
`celadon.testing`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from celadon.cli.policytest.case_judging import Bench
    from celadon.cli.policytest.case_results import Case, CaseResult
    from celadon.kube.json_types import JsonDict
    from celadon.testing import KubeApi, Manifest

MARKER: Final = "kube_api"
MARKED: Final = (
    "manifests",
    "version",
    "all_versions",
    "tls",
    "controllers",
    "simulate",
    "nodes",
    "ready_seconds",
    "run_seconds",
)
SCOPES: Final = ("function", "class", "module", "package", "session")
SCOPE_HELP: Final = "who shares the server of the fixture `kube_api` (default: function)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--kube-api-scope` and its like in the configuration."""
    group = parser.getgroup("celadon", "Kubernetes API servers by Celadon")
    group.addoption("--kube-api-scope", choices=SCOPES, help=SCOPE_HELP)
    parser.addini("kube_api_scope", SCOPE_HELP, default="function")
    parser.addini("kube_api_manifests", "files and folders for every `kube_api`", type="paths")
    collects = "whether to collect tests of policies, `*.policytest.yaml` (default: true)"
    parser.addini("celadon_policy_tests", collects, type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and refuse a scope that is none."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(manifests=[], version='1.36', all_versions=False, tls=True, controllers=True, "
        "simulate=False, nodes=1, ready_seconds=0.0, run_seconds=0.0): "
        "what the server of the fixture `kube_api` has, and how it differs from a usual one; "
        "files are relative to that of the test",
    )
    _scope("kube_api", config)


def _scope(fixture_name: str, config: pytest.Config) -> Any:  # noqa: ANN401 - as pytest has it
    scope = config.getoption("--kube-api-scope") or config.getini("kube_api_scope")
    if scope not in SCOPES:
        raise pytest.UsageError(f"kube_api_scope: `{scope}` is none of {', '.join(SCOPES)}")
    return scope


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse a mark on a test, which cannot change a server that is shared with others."""
    scope = _scope("kube_api", config)
    for item in items:
        if scope != "function" and any(mark.name == MARKER for mark in item.own_markers):
            raise pytest.UsageError(
                f"{item.nodeid}: the marker `{MARKER}` on a test needs the scope `function`, "
                f"and `kube_api_scope` is `{scope}`"
            )


@pytest.fixture(scope=_scope)
def new_kube_api(request: pytest.FixtureRequest) -> Iterator[Callable[..., KubeApi]]:
    """Give a function that makes servers, `new_kube_api(*manifests, version="1.34")`, with the
    options of the marker. They end when the test ends."""
    with ExitStack() as servers:

        def make(*manifests: Manifest, **options: Any) -> KubeApi:  # noqa: ANN401 - those of KubeApi
            try:
                from celadon.testing import KubeApi, ServerOptions
            except ModuleNotFoundError as missing:
                raise pytest.fail.Exception(str(missing), pytrace=False) from None
            given = (*request.config.getini("kube_api_manifests"), *manifests)
            return servers.enter_context(KubeApi(given, ServerOptions(**options)))

        yield make


@pytest.fixture(scope=_scope)
def kube_api(request: pytest.FixtureRequest, new_kube_api: Callable[..., KubeApi]) -> KubeApi:
    """Return a Kubernetes API server: `celadon.testing.KubeApi`."""
    manifests: list[Manifest] = []
    options: JsonDict = {}
    for mark in reversed(list(request.node.iter_markers(MARKER))):
        named = _named(mark)
        several = named.pop("manifests", ())
        if isinstance(several, str | os.PathLike | dict):
            several = (several,)
        manifests += (_beside(request, item) for item in several)
        options |= named
    try:
        return new_kube_api(*manifests, **options)
    except Exception as wrong:
        from celadon.testing import RequestRefused

        if not isinstance(wrong, ValueError | RequestRefused):
            raise
        raise pytest.fail.Exception(str(wrong), pytrace=False) from None


def _named(mark: pytest.Mark) -> JsonDict:
    """Return what it says; fails for what would have no effect."""
    if mark.args:
        pytest.fail(
            f"the marker `{MARKER}` takes arguments by name: manifests=[...]", pytrace=False
        )
    for name in mark.kwargs:
        if name not in MARKED:
            markers = ", ".join(MARKED)
            pytest.fail(
                f"the marker `{MARKER}` has no `{name}`: there are {markers}", pytrace=False
            )
    return dict(mark.kwargs)


def _beside(request: pytest.FixtureRequest, manifest: Manifest) -> Manifest:
    if isinstance(manifest, str | os.PathLike):
        return request.path.parent / manifest
    return manifest


_POLICY_TESTS: Final = ("policytest.yaml", "policytest.yml", "policytest.json")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a test of policies, by its name."""
    if not file_path.name.lower().endswith(_POLICY_TESTS):
        return None
    from celadon.cli.reading.documents import is_test_file

    getini = parent.config.getini("celadon_policy_tests")
    if not getini or not is_test_file(file_path.name):
        return None
    collector: pytest.Collector = PolicyTestFile.from_parent(parent, path=file_path)
    return collector


class PolicyTestFile(pytest.File):
    """A file with tests of policies."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each case and version."""
        from celadon.cli.options import DEFAULT_VERSION
        from celadon.cli.policytest.case_judging import Bench
        from celadon.cli.policytest.importers.foreign_formats import given_tests

        tests = given_tests([str(self.path)])
        wrong = [*tests.problems, *(problem for test in tests.tests for problem in test.problems)]
        if wrong:
            raise PolicyTestUnreadable("\n".join(problem.text() for problem in wrong))
        for test in tests.tests:
            benches: dict[str, Bench] = {}
            for case in test.cases:
                for version in case.versions or test.versions or (DEFAULT_VERSION,):
                    bench = benches.setdefault(version, Bench(test, version))
                    name = f"{case.name} ({version})"
                    yield PolicyCaseItem.from_parent(self, name=name, case=case, bench=bench)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 - as pytest has it
        """Show a failure without a traceback of ours, where the file is to blame."""
        if isinstance(excinfo.value, PolicyTestUnreadable):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class PolicyTestUnreadable(Exception):
    """A file cannot be read as tests; the text has a line for each fault."""


class PolicyCaseFailed(Exception):
    """A case did not come out as expected, or means nothing."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__()
        self.result = result


class PolicyCaseItem(pytest.Item):
    """A case with one version."""

    def __init__(self, *, case: Case, bench: Bench, **value: Any) -> None:  # noqa: ANN401 - pytest's
        super().__init__(**value)
        self._case = case
        self._bench = bench

    def runtest(self) -> None:
        """Run the case."""
        from celadon.cli.policytest.case_running import run_case

        if self._case.skip:
            pytest.skip(self._case.skip)
        result = run_case(self._bench, self._case)
        if result.is_bad:
            raise PolicyCaseFailed(result)
        for doubt in result.doubts:
            self.warn(pytest.PytestWarning(f"{doubt.vacuity.value}: {doubt.text}"))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 - as pytest has it
        """Show a failed case as `celadon test` shows it."""
        if isinstance(excinfo.value, PolicyCaseFailed):
            from celadon.cli.report.case_view import explained_plainly

            return "\n".join(explained_plainly(excinfo.value.result))
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the case stands."""
        return self.path, max(self._case.place.line - 1, 0), self.name
