"""What Celadon reads is data: no file, no body and no answer makes it run, import or unpickle
anything, but in the places that are named here, each with the reason why that is no danger.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import MODULES, tree_of

RUNS_OR_LOADS = {
    "__import__",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "builtins",
    "cloudpickle",
    "code",
    "codeop",
    "compile",
    "concurrent.futures.ProcessPoolExecutor",
    "ctypes",
    "dill",
    "eval",
    "exec",
    "importlib.import_module",
    "importlib.machinery",
    "importlib.metadata",
    "importlib.reload",
    "jsonpickle",
    "marshal",
    "multiprocessing",
    "os.exec*",
    "os.popen",
    "os.posix_spawn*",
    "os.spawn*",
    "os.startfile",
    "os.system",
    "pickle",
    "pkgutil.resolve_name",
    "pty",
    "runpy",
    "shelve",
    "subprocess",
    "yaml.CFullLoader",
    "yaml.CLoader",
    "yaml.CUnsafeLoader",
    "yaml.FullLoader",
    "yaml.Loader",
    "yaml.UnsafeLoader",
    "yaml.full_load*",
    "yaml.load*",
    "yaml.unsafe_load*",
    "zipimport",
}
"""Modules, and names of modules, that run what they are given or make objects of any class; all
that begin so, with a `*`."""

ALLOWED = {
    ("celadon.admission.expressions.size_bounds", "marshal.dumps"): "writes only, to count bytes",
    ("celadon.cel.program", "compile"): "the one place where generated Python is loaded",
    ("celadon.cel.program", "exec"): "the one place where generated Python is loaded",
    ("celadon.cli.fleets.fleet_engines", "concurrent.futures.ProcessPoolExecutor"): "our forks",
    ("celadon.cli.fleets.fleet_engines", "multiprocessing.get_context"): "our forks",
    ("celadon.cli.fleets.fleet_engines", "pickle.HIGHEST_PROTOCOL"): "for our forks",
    ("celadon.cli.fleets.fleet_engines", "pickle.dumps"): "for our forks",
    ("celadon.cli.fleets.fleet_engines", "pickle.loads"): "from this process to its forks: the "
    "digest of the file came by their pipe",
    ("celadon.cli.report.report_model", "importlib.import_module"): "of a table of ours",
    ("celadon.cli.language_server.lsp_adapter", "asyncio.create_subprocess_exec"): "Celadon itself",
    ("celadon.cli.main", "importlib.import_module"): "of the table of commands",
    ("celadon.cli.worker_pipes", "pickle.HIGHEST_PROTOCOL"): "for the process that forked this one",
    ("celadon.cli.worker_pipes", "pickle.dumps"): "for the process that forked this one",
    ("celadon.cli.worker_pipes", "pickle.loads"): "from a pipe to a fork of this process",
    ("celadon.serve.outgoing.exec_plugin", "asyncio.create_subprocess_exec"): "the command of a "
    "kubeconfig that the user has named, as kubectl runs it",
    ("celadon.serve.workers.worker_threads", "ctypes.c_ulong"): "ends the work of a thread of ours",
    ("celadon.serve.workers.worker_threads", "ctypes.py_object"): "ends the work of a thread of "
    "ours",
    (
        "celadon.serve.workers.worker_threads",
        "ctypes.pythonapi.PyThreadState_SetAsyncExc",
    ): "ends the work of a thread of ours",
    ("celadon.testing", "importlib.import_module"): "of a table of ours",
    ("celadon.webhook.applications.named_application", "importlib.import_module"): "what the "
    "command line names, as `python -m` does",
}


def test_only_the_places_that_are_named() -> None:
    found = {(module, name) for module in MODULES for name in dangers(tree_of(module))}
    assert found - ALLOWED.keys() == set(), "runs, imports or unpickles"
    assert ALLOWED.keys() - found == set(), "no longer needed"


def dangers(tree: ast.Module) -> set[str]:
    """What a module uses of `RUNS_OR_LOADS`, by its full name."""
    return {name for name in _names(tree) if _is_danger(name)}


def _is_danger(name: str) -> bool:
    for one in RUNS_OR_LOADS:
        if one.endswith("*"):
            if name.startswith(one[:-1]):
                return True
        elif f"{name}.".startswith(f"{one}."):
            return True
    return False


def _names(tree: ast.Module) -> Iterator[str]:
    """Every builtin and imported name that is used, in full, whatever it is called here. A module
    alone is none unless it is handed on as a value."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                imported[one.asname or one.name.split(".")[0]] = (
                    one.name if one.asname else one.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                imported[one.asname or one.name] = f"{node.module}.{one.name}"
                yield f"{node.module}.{one.name}"
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if id(node) not in inner:
            steps = _steps(node)
            if steps and (steps[0] in imported or hasattr(builtins, steps[0])):
                yield ".".join((imported.get(steps[0], steps[0]), *steps[1:]))


def _steps(node: ast.expr) -> list[str]:
    """Of `a.b.c`; none where something else than a name stands before the first dot."""
    if isinstance(node, ast.Name):
        return [node.id]
    above = _steps(node.value) if isinstance(node, ast.Attribute) else []
    return [*above, node.attr] if above and isinstance(node, ast.Attribute) else []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle\npickle.loads(b'')", {"pickle.loads"}),
        ("import pickle as p\np.Unpickler(f).load()", {"pickle.Unpickler"}),
        ("import pickle as p\nread = p.Unpickler", {"pickle.Unpickler"}),
        ("from pickle import loads as read\nread(b'')", {"pickle.loads"}),
        ("import pickle\nf(pickle)", {"pickle"}),
        ("import yaml\nyaml.load_all(t, yaml.Loader)", {"yaml.load_all", "yaml.Loader"}),
        ("import yaml\nyaml.SafeLoader(t)", set()),
        ("import os\nos.execvp('a', [])", {"os.execvp"}),
        ("run = exec", {"exec"}),
        ("import builtins\nbuiltins.eval('1')", {"builtins.eval"}),
        ("environment.compile('1')", set()),
        ("import re\nre.compile('1')", set()),
        ("import importlib.util\nimportlib.util.find_spec('a')", set()),
    ],
)
def test_that_they_are_found(source: str, found: set[str]) -> None:
    assert dangers(ast.parse(source)) == found
