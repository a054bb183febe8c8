"""The other engines, each in its best shape.

An adapter compiles an expression once and gives two functions without arguments: `fresh` evaluates
it on an object the engine has not seen (its conversion included), `shared` on an object that was
converted before. What an engine does not know, or answers differently, it is not measured with.

- cel-python: its compiling runner, several times faster than the interpreting one that it uses when
  nothing is said; and that one where the compiling one fails, as it does with some uses of `has`.
- cel-expr-python: with the extensions it has for strings, optionals and mathematics.
- common-expression-language: with its `cel.stdlib`, in one context whose variables are replaced.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final, Protocol

Evaluate = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Runs:
    """The same evaluation, conversion included (`fresh`) and excluded (`shared`)."""

    fresh: Evaluate
    shared: Evaluate


class Peer(Protocol):
    """An engine. `prepare` gives the ways to run an expression, the best first, and may raise
    whatever the engine raises for what it does not know."""

    def prepare(self, expression: str, activation: Mapping[str, Any]) -> Iterator[Runs]: ...


class CelPython:
    """Pure Python.

    It has one parser for the whole process, whose trees only suit one of its runners: hence two,
    and the right one put in place before an expression is compiled.
    """

    def __init__(self) -> None:
        celpy = importlib.import_module("celpy")
        logging.getLogger("celpy").setLevel(logging.CRITICAL)
        self._convert = celpy.json_to_cel
        self._parser = parser = importlib.import_module("celpy.celparser").CELParser
        self._environments = []
        for runner in (celpy.CompiledRunner, celpy.InterpretedRunner):
            parser.CEL_PARSER = None
            environment = celpy.Environment(runner_class=runner)
            self._environments.append((environment, parser.CEL_PARSER))

    def prepare(self, expression: str, activation: Mapping[str, Any]) -> Iterator[Runs]:
        for environment, parser in self._environments:
            self._parser.CEL_PARSER = parser
            yield self._runs(environment, expression, activation)

    def _runs(self, environment: Any, expression: str, activation: Mapping[str, Any]) -> Runs:
        convert = self._convert
        evaluate = environment.program(environment.compile(expression)).evaluate
        converted = {name: convert(value) for name, value in activation.items()}
        return Runs(
            lambda: evaluate({name: convert(value) for name, value in activation.items()}),
            lambda: evaluate(converted),
        )


class CelExprPython:
    """Google's C++ CEL."""

    def __init__(self) -> None:
        self._cel = cel = importlib.import_module("cel_expr_python.cel")
        self._extensions = [
            getattr(importlib.import_module(f"cel_expr_python.ext.{module}"), name)()
            for module, name in (
                ("ext_strings", "ExtStrings"),
                ("ext_optional", "ExtOptional"),
                ("ext_math", "ExtMath"),
            )
        ]
        self._dyn = cel.Type.DYN

    def prepare(self, expression: str, activation: Mapping[str, Any]) -> Iterator[Runs]:
        environment = self._cel.NewEnv(
            variables=dict.fromkeys(activation, self._dyn), extensions=self._extensions
        )
        evaluate = environment.compile(expression).eval
        data = dict(activation)
        shared = environment.Activation(data)
        yield Runs(
            lambda: evaluate(data=data).plain_value(), lambda: evaluate(shared).plain_value()
        )


class CommonExpressionLanguage:
    """Rust's CEL."""

    def __init__(self) -> None:
        self._cel = importlib.import_module("cel")
        self._add_library = importlib.import_module("cel.stdlib").add_stdlib_to_context

    def prepare(self, expression: str, activation: Mapping[str, Any]) -> Iterator[Runs]:
        execute = self._cel.compile(expression).execute
        context = self._context(activation)
        renewed = self._context(activation)
        renew = renewed.update

        def fresh() -> Any:
            renew(activation)
            return execute(renewed)

        yield Runs(fresh, lambda: execute(context))

    def _context(self, activation: Mapping[str, Any]) -> Any:
        context = self._cel.Context(activation)
        self._add_library(context)
        return context


PEERS: Final[dict[str, Callable[[], Peer]]] = {
    "cel-python": CelPython,
    "cel-expr-python": CelExprPython,
    "common-expression-language": CommonExpressionLanguage,
}


@dataclass(frozen=True, slots=True)
class Installed:
    """A peer that is there, by the name of its distribution."""

    name: str
    version: str
    peer: Peer


def installed() -> tuple[Installed, ...]:
    """The peers that can be imported here."""
    found = []
    for name, make in PEERS.items():
        try:
            found.append(Installed(name, metadata.version(name), make()))
        except ImportError:  # also: not installed
            continue
    return tuple(found)


def runs(
    peer: Peer, expression: str, activation: Mapping[str, Any], expected: object
) -> Runs | None:
    """None when the peer cannot do the expression, or gives another value."""
    ways = peer.prepare(expression, activation)
    while True:
        try:
            way = next(ways, None)
            if way is None or (way.fresh() == expected and way.shared() == expected):
                return way
        except Exception:  # noqa: BLE001  # whatever a peer raises means that it cannot
            continue
