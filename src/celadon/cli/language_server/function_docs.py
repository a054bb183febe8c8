"""What is said of functions and macros: signature, a line, examples, since when, what a call costs.

Functions say it in their records; macros have none, so what they do stands here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from celadon.cel import Environment
from celadon.cel.extend import Function, Overload
from celadon.kube.library import first_releases


class MacroDoc(NamedTuple):
    """`parameters` as they are written; `doc` is one sentence."""

    parameters: tuple[str, ...]
    doc: str


MACROS: Final[dict[str, MacroDoc]] = {
    "has": MacroDoc(("object.field",), "Whether the field is set."),
    "all": MacroDoc(
        ("x", "predicate"),
        "Whether the predicate holds for every item of a list, or every key of a map.",
    ),
    "exists": MacroDoc(
        ("x", "predicate"), "Whether the predicate holds for some item of a list, or key of a map."
    ),
    "exists_one": MacroDoc(
        ("x", "predicate"), "Whether the predicate holds for exactly one item, or key."
    ),
    "existsOne": MacroDoc(
        ("i", "x", "predicate"), "Whether the predicate holds for exactly one item, or entry."
    ),
    "map": MacroDoc(
        ("x", "result"),
        "A list with the result for every item; with a predicate before the result, of those for "
        "which it holds.",
    ),
    "filter": MacroDoc(
        ("x", "predicate"), "A list of the items, or keys, for which the predicate holds."
    ),
    "sortBy": MacroDoc(("x", "key"), "The list, sorted by a key of each item."),
    "transformList": MacroDoc(
        ("i", "x", "result"), "A list with the result for every index and item, or key and value."
    ),
    "transformMap": MacroDoc(
        ("k", "v", "result"), "A map with the same keys, and the result for every entry."
    ),
    "transformMapEntry": MacroDoc(
        ("k", "v", "entry"), "A map of the entries (maps with one key) made for every entry."
    ),
    "optMap": MacroDoc(
        ("x", "result"), "An optional with the result for the value; none where there is no value."
    ),
    "optFlatMap": MacroDoc(
        ("x", "result"), "The result, an optional, for the value; none where there is no value."
    ),
    "bind": MacroDoc(
        ("x", "value", "result"), "The result, in which the name stands for the value."
    ),
}
"""Those of Kubernetes, by name."""


def signature(name: str, overload: Overload) -> str:
    """`<string>.split(<string>) -> list(string)`."""
    params = [f"<{one.display()}>" for one in overload.params]
    receiver = f"{params.pop(0)}." if overload.member else ""
    return f"{receiver}{name}({', '.join(params)}) -> {overload.result.display()}"


def since(name: str) -> str:
    """`since Kubernetes 1.30`, of an overload by its id or a macro by its name; empty for what
    every release has."""
    release = first_releases().get(name)
    return f"since Kubernetes {release}" if release else ""


def function_doc(name: str, overloads: Iterable[Overload]) -> str:
    """Overloads as Markdown."""
    parts = []
    for one in overloads:
        lines = [f"```cel\n{signature(name, one)}\n```", one.doc, since(one.id)]
        lines += [f"`{example}` is `{result}`" for example, result in one.examples[:2]]
        parts.append("\n\n".join(line for line in lines if line))
    return "\n\n---\n\n".join(parts)


def macro_signature(name: str) -> str:
    """`<range>.all(x, predicate)`."""
    receiver = {"has": "", "bind": "cel."}.get(name, "<range>.")
    return f"{receiver}{name}({', '.join(MACROS[name].parameters)})"


def macro_doc(name: str) -> str:
    """A macro as Markdown."""
    lines = [f"```cel\n{macro_signature(name)}\n```", MACROS[name].doc, since(name)]
    return "\n\n".join(line for line in lines if line)


def macros_of(environment: Environment) -> list[str]:
    """The macros that an environment has and that are told of here."""
    return sorted({one.name for one in environment.parse_options.macros} & MACROS.keys())


def functions_of(environment: Environment) -> list[Function]:
    """The functions that are called by a name."""
    known = environment.declarations.functions.values()
    return [one for one in known if one.name.replace(".", "").isidentifier()]
