"""The expression and the variables of `celadon eval`, from its arguments."""

from __future__ import annotations

import argparse
from typing import Any

from celadon.cli.reading import sources
from celadon.cli.reading.documents import DocumentReader
from celadon.cli.reading.json_text import read_json
from celadon.cli.reading.problems import Problem
from celadon.goyaml import UnreadableError


class BindingError(Exception):
    """A variable that has no value; the text says why."""


def expression_of(argument: str) -> str:
    """The expression that the argument is, or what is on standard input. Raises `BindingError`."""
    if argument != sources.STDIN:
        return argument
    text = sources.read(argument)
    if isinstance(text, Problem):
        raise BindingError(f"{text.position()}: {text.message}")
    return text.content.removesuffix("\n")


def bindings(options: argparse.Namespace) -> dict[str, Any]:
    """Names to values. Raises `BindingError`."""
    bound: dict[str, Any] = {}
    files = {"object": options.object, "oldObject": options.old_object, "params": options.params}
    for name, file in files.items():
        if file is not None:
            bound[name] = _manifest(file)
    for text in options.var:
        name, value = _variable(text)
        bound[name] = value
    return bound


def _manifest(file: str) -> Any:  # noqa: ANN401 - any JSON
    text = sources.read(file)
    if isinstance(text, Problem):
        raise BindingError(f"{text.position()}: {text.message}")
    documents = []
    for item in DocumentReader().read(text):
        if isinstance(item, Problem):
            raise BindingError(f"{item.position()}: {item.message}")
        documents.append(item)
    if len(documents) != 1:
        raise BindingError(f"{text.file}: one object is expected, there are {len(documents)}")
    return documents[0].value


def _variable(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not (name.isascii() and name.isidentifier()):
        raise BindingError(f"`--var {text}` is not of the form NAME=JSON")
    try:
        values = [item for _, _, item in read_json(value)]
    except UnreadableError as error:
        raise BindingError(
            f"`--var {name}` has no JSON value: {error.message}; text needs quotes: "
            f"`--var '{name}=\"text\"'`"
        ) from error
    if len(values) != 1:
        raise BindingError(f"`--var {name}` needs exactly one JSON value")
    return name, values[0]
