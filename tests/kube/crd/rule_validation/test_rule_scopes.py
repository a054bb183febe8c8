"""What the expressions at a node may name."""

from __future__ import annotations

from celadon.cel.extend import types
from celadon.kube.crd.rule_validation import rule_scopes
from celadon.kube.library import environment
from celadon.kube.schemas import decode_schema


def test_names() -> None:
    scopes = rule_scopes(decode_schema({"type": "integer"}), is_root=False)
    assert scopes is not None
    base = environment("1.36")
    for optional, expected in ((False, types.INT), (True, types.optional_of(types.INT))):
        made = scopes.environment(base, optional=optional)
        assert made is scopes.environment(base, optional=optional)
        for name, type_ in (("self", types.INT), ("oldSelf", expected)):
            checked = made.compile(name).ast
            assert checked is not None
            assert checked.type == type_


def test_a_node_without_a_type() -> None:
    assert rule_scopes(decode_schema({}), is_root=False) is None
