"""One tree of exceptions, and its picture at the head of the module."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from celadon import kube
from celadon.kube import errors


def exceptions() -> set[type[BaseException]]:
    """The public exception classes of the whole room."""
    found: set[type[BaseException]] = set()
    for info in pkgutil.walk_packages(kube.__path__, "celadon.kube."):
        for name, one in vars(importlib.import_module(info.name)).items():
            own = inspect.isclass(one) and one.__module__ == info.name
            if own and issubclass(one, BaseException) and not name.startswith("_"):
                found.add(one)
    return found


def shown() -> dict[str, str]:
    """Each name in the picture, with the one it is below."""
    found: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        indent = len(line) - len(line.lstrip())
        if indent < 4:
            continue
        above = [one for one in above if one[0] < indent]
        name = line.split()[0]
        found[name] = above[-1][1] if above else ""
        above.append((indent, name))
    return found


def test_every_exception_is_in_the_picture_where_it_belongs() -> None:
    assert shown() == {
        one.__name__: "" if one is errors.KubeError else one.__bases__[0].__name__
        for one in exceptions()
    }


def test_all_have_one_root() -> None:
    assert all(issubclass(one, errors.KubeError) for one in exceptions())
