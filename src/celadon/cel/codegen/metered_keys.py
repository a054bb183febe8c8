"""Computed keys in the metered variant: attributes that are a part of another attribute.

An attribute as key does not pay for its own root. What cannot be a key is an error that names Go's
own classes where the key was read from an input: `map[string]interface {}`, and cel-go's where an
expression computed it: `*types.baseMap`. A conditional is whatever its branch is.
"""

from __future__ import annotations

from celadon.cel.analysis.attribute_chains import chain_of, is_conditional
from celadon.cel.codegen.writer_protocols import MeteredWriter
from celadon.cel.syntax import Call, Expr, Ident


def key(w: MeteredWriter, node: Expr | None) -> str:
    """The atom of a computed key."""
    assert node is not None, "constant keys are handled in runs"
    e = w.emitter
    if e.is_deep() and not isinstance(node, Ident):
        return w.outlined(node, lambda part: key(w, part))
    attribute = _attribute(w, node)
    if attribute is None:
        return w.value(node, branch=True)
    found, root = attribute
    if not root or chain_of(node).is_optional:
        return found
    found = found if found.isidentifier() else e.assign(found)
    test = f"{found}.__class__ is {e.runtime('str')}"
    return e.assign(f"{found} if {test} else {e.runtime('native_key_v')}({found}, {root})")


def _conditional(w: MeteredWriter, node: Call) -> tuple[str, str]:
    """The value, and the local that holds the input that it is read from, or what is no input."""
    e = w.emitter
    test = w.value(node.args[0])
    result, root = e.name(), e.name()
    nothing = e.runtime("MISSING")
    for word, is_taken, branch in (("if", "True", node.args[1]), ("elif", "False", node.args[2])):
        with w.branch(f"{word} {test} is {is_taken}:", branch.id):
            value, source = _branch(w, branch)
            e.emit(f"{result}, {root} = {value}, {source or nothing}", branch.id)
    with w.branch("else:"):
        e.emit(f"{result}, {root} = {e.runtime('no_bool_v')}({test}), {nothing}", node.id)
    w.reached(node, result)
    return result, root


def _branch(w: MeteredWriter, node: Expr) -> tuple[str, str]:
    """The value, and the source of the input that it is read from, if it is read from one."""
    attribute = _attribute(w, node)
    return (w.resolved(node, w.value(node, branch=True)), "") if attribute is None else attribute


def _attribute(w: MeteredWriter, node: Expr) -> tuple[str, str] | None:
    """The value of an attribute, and the source of the input that it is read from, empty if there
    is none. None for an expression that is no attribute."""
    chain = chain_of(node)
    base = chain.base
    if is_conditional(base):
        start, root = _conditional(w, base)
    elif chain.steps or isinstance(base, Ident):
        start = w.base(base)
        root = start if isinstance(base, Ident) and not w.is_bound(base) else ""
    else:
        return None
    found = w.steps(start, chain.steps)
    if chain.steps:
        w.reached(node, found)
    return found, root
