"""The doors show exactly what they promise, and importing one room loads no later one."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types

import pytest

from tests.architecture.rooms import DOORS, PURE, reached
from tests.architecture.source_tree import MODULES

PRESENT = sorted(door for door in DOORS - {"celadon"} if door in MODULES)


@pytest.mark.parametrize("door", PRESENT)
def test_all_is_sorted_and_complete(door: str) -> None:
    module = importlib.import_module(door)
    if not hasattr(module, "__path__") and not hasattr(module, "__all__"):
        return  # a chapter that is a door shows all that has no underscore
    names = list(module.__all__)
    assert names == sorted(names, key=_by_kind), f"{door}.__all__ is not sorted"
    assert len(set(names)) == len(names)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith(("_", "@")) and not _is_submodule(door, name, value)
    }
    public.discard("TYPE_CHECKING")  # which type checkers know by this name only
    if hasattr(module, "__path__"):  # a chapter has other public names, for its room
        assert public - set(names) == set(), f"{door} shows names that are not in __all__"
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{door}.__all__ has names that are not there"


def _by_kind(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order that the linter keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _is_submodule(door: str, name: str, value: object) -> bool:
    return isinstance(value, types.ModuleType) and value.__name__ == f"{door}.{name}"


@pytest.mark.parametrize("room", sorted({door.split(".")[1] for door in PRESENT}))
def test_a_room_loads_only_the_rooms_before_it(room: str) -> None:
    doors = [door for door in PRESENT if door.split(".")[1] == room]
    code = (
        f"import sys, {', '.join(doors)}; "
        "print(sorted({m.split('.')[1] for m in sys.modules if m.startswith('celadon.')}))"
    )
    loaded = subprocess.run(  # our own interpreter, our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    beneath_all_rooms = {"late_patterns", "records", "memoization"}
    if room not in PURE:
        beneath_all_rooms |= {"deep_recursion", "private_files"}
    assert set(eval_names(loaded)) - beneath_all_rooms <= reached(room)


SPARED = {
    "celadon.cel": {
        *("base64", "datetime", "decimal", "json", "urllib", "zlib", "zoneinfo"),
        *(
            "celadon.cel.analysis.cost_bound",
            "celadon.cel.parsing.diagnosis",
            "celadon.cel.partial_evaluation",
        ),
        *(
            "celadon.cel.re2.pattern",
            "celadon.cel.parsing.antlr_parser",
        ),
    },
    "celadon.kube": {"celadon.cel", "celadon.kube.schemas", "yaml"},
    "celadon.goyaml": {"celadon.cel", "yaml"},
    "celadon.cli.check.check_run": {
        *("uuid", "yaml"),
        *("celadon.admission.policies.mutating", "celadon.admission.webhooks"),
        *("celadon.kube.fieldmanager", "celadon.kube.crd", "celadon.kube.jsonpath"),
        "celadon.kube.rbac",
    },
    "celadon.cli.main": {"celadon.admission", "celadon.cel", "celadon.kube", "json", "yaml"},
}
"""What importing must not load: whoever needs it loads it then, and waits for it then."""


@pytest.mark.parametrize("module", SPARED)
def test_imports_are_light(module: str) -> None:
    code = f"import sys, {module}; print(sorted(sys.modules))"
    loaded = subprocess.run(  # our own interpreter, our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert not SPARED[module] & set(eval_names(loaded))


def eval_names(text: str) -> list[str]:
    """The names in a printed list of names."""
    return [part.strip(" '\n") for part in text.strip("[]\n ").split(",")]


def test_the_package_itself_loads_nothing() -> None:
    code = "import sys, celadon; print([m for m in sys.modules if m.startswith('celadon.')])"
    loaded = subprocess.run(  # our own interpreter, our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.strip() == "[]"
