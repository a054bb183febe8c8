"""What an environment allows beyond its declarations."""

from __future__ import annotations

from typing import NamedTuple


class Switches(NamedTuple):
    """The defaults are cel-go's own; Kubernetes sets several of them (see `kube.versions`).

    `optional_syntax` is `.?`, `[?]`, `{?k: v}`; `escaped_identifiers` is `` a.`b-c` ``;
    `track_macros` keeps macro calls, for the unparser; `fold_constants` computes constant
    conversions when the program is built and makes them free; `presence_test_has_cost` charges
    `has()` 1 of its own; `keyword_fields` lets `x.namespace` find a field declared `__namespace__`.

    `older_names` resolves names as cel-go did before 0.27: a dotted name means the global of that
    name though its first part is a loop's variable, a leading dot does not reach past a loop's
    variable, and messages show `list` and `map` as types of lists and maps of anything
    (`type(list(A))`). `older_sizes` estimates costs as before 0.23, when nothing was known of the
    sizes of what an expression makes itself and everything in a loop had the size of its range;
    `backticks_are_junk` reads texts as before 0.23, when a backtick began no token.

    The last three bring cel-go closer to the specification. `bad_presence_test_is_error` (cel-go's
    `EnableErrorOnBadPresenceTest`) fails `has(x.f)` and `x.?f` where x has no fields at all;
    `strict_map_keys` refuses map literals with a key that is no string, bool, int or uint, or that
    occurs twice; `nullable_joins` makes `[duration('1s'), null]` a list of durations, and a list of
    ints and wrapped ints a list of wrapped ints.
    """

    optional_syntax: bool = False
    escaped_identifiers: bool = False
    track_macros: bool = False
    fold_constants: bool = True
    cross_type_numeric_comparisons: bool = False
    presence_test_has_cost: bool = True
    keyword_fields: bool = False
    older_names: bool = False
    older_sizes: bool = False
    backticks_are_junk: bool = False
    bad_presence_test_is_error: bool = False
    strict_map_keys: bool = False
    nullable_joins: bool = False


DEFAULT_SWITCHES = Switches()
