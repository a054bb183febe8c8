"""The signatures of the call whose arguments are being written."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.admission.lint import TypedScope
from celadon.cel.unfinished import OpenCall, type_in, typing_context
from celadon.cli.language_server.completions import fits
from celadon.cli.language_server.function_docs import (
    MACROS,
    functions_of,
    macro_signature,
    signature,
)
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Signature:
    """`parameters` are parts of the label."""

    label: str
    doc: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signatures:
    """All that the call may mean, and which argument is being written, from 0."""

    signatures: tuple[Signature, ...]
    argument: int


def signatures(text: str, offset: int, scopes: Sequence[TypedScope]) -> Signatures | None:
    """Of the innermost call around a place; None outside of calls."""
    for scope in scopes:
        context = typing_context(text, offset, scope.environment)
        if context is None or not context.calls:
            return None
        call = context.calls[-1]
        found = _macros(call) or _overloads(call, TypedScope(context.environment))
        if found:
            return Signatures(tuple(found), call.argument)
    return None


def _macros(call: OpenCall) -> list[Signature]:
    is_ours = call.name != "bind" or call.receiver == "cel"
    is_global = call.name == "has"
    if call.name not in MACROS or not is_ours or is_global != (not call.receiver):
        return []
    doc = MACROS[call.name]
    return [Signature(macro_signature(call.name), doc.doc, doc.parameters)]


def _overloads(call: OpenCall, scope: TypedScope) -> list[Signature]:
    environment = scope.environment
    qualified = f"{call.receiver}.{call.name}" if call.receiver else call.name
    every = {one.name: one for one in functions_of(environment)}
    function = every.get(qualified)
    is_method = function is None and bool(call.receiver)
    if is_method:
        function = every.get(call.name)
    if function is None:
        return []
    receiver = type_in(environment, call.receiver) if is_method else None
    return [
        Signature(
            signature(function.name, one),
            one.doc,
            tuple(f"<{param.display()}>" for param in one.params[int(is_method) :]),
        )
        for one in function.overloads
        if one.member is is_method and (receiver is None or fits(one.params[0], receiver))
    ]
