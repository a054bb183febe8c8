"""What an environment allows beyond its declarations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Switches:
    """The defaults are cel-go's own; Kubernetes sets several of them (see `kube.versions`).

    `optional_syntax` is `.?`, `[?]`, `{?k: v}`; `escaped_identifiers` is `` a.`b-c` ``;
    `track_macros` keeps macro calls, for the unparser; `fold_constants` computes constant
    conversions when the program is built and makes them free; `presence_test_has_cost` charges
    `has()` 1 of its own; `keyword_fields` lets `x.namespace` find a field declared `__namespace__`.
    """

    optional_syntax: bool = False
    escaped_identifiers: bool = False
    track_macros: bool = False
    fold_constants: bool = True
    cross_type_numeric_comparisons: bool = False
    presence_test_has_cost: bool = True
    keyword_fields: bool = False


DEFAULT_SWITCHES = Switches()
