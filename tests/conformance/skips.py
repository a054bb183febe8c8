"""Cases that are not run, each with its reason. This list is only allowed to shrink."""

from __future__ import annotations

from typing import Any

#: Cases say themselves what they need.
NEEDS = {
    "protobuf": "needs protobuf messages, which CEL in Kubernetes does not have",
    "wkt": "needs protobuf's wrapper, Any, Struct or Value messages",
}

#: By id or by the beginning of it; cel-go 0.27 skips these in its own run of the suite
#: (`conformance/BUILD.bazel`), because it gives other answers.
CEL_GO = {
    "fields/qualified_identifier_resolution/map_key_float": "cel-go allows such keys",
    "fields/qualified_identifier_resolution/map_key_null": "cel-go allows such keys",
    "fields/qualified_identifier_resolution/map_value_repeat_key": "cel-go allows such maps",
    "timestamps/duration_converters/get_milliseconds": "cel-go gives the total",
    "optionals/optionals/map_optional_select_has": "cel-go fails: no such key",
    "string_ext/value_errors/indexof_out_of_range": "cel-go gives -1",
    "string_ext/value_errors/lastindexof_out_of_range": "cel-go gives -1",
    "enums/strong_proto2": "cel-go's enums are ints",
    "enums/strong_proto3": "cel-go's enums are ints",
    "type_deduction/wrappers/wrapper_promotion_2": "cel-go deduces another type",
    "type_deduction/legacy_nullable_types/null_assignable_to": "cel-go deduces another type",
}

#: Recordings of which another run would give another answer, and cases that were written down
#: wrongly.
FAULTY = {
    "macros/14545": "iterates over a map, in Go's random order",
    "parse/bytes_literals/triple_single_quoted_unescaped_punctuation": "want has `\\?` for `?`",
    "parse/bytes_literals/triple_double_quoted_unescaped_punctuation": "want has `\\?` for `?`",
}

#: cel-go's own run of the suite sets a switch that Kubernetes does not.
OTHER_SWITCHES = {
    "optionals/optionals/map_null_entry_no_such_key": "needs errors on bad presence tests",
    "optionals/optionals/map_present_key_invalid_field": "needs errors on bad presence tests",
}


def reason(case: dict[str, Any]) -> str | None:
    """Why this case is not run; None if it is."""
    for need in case.get("needs", ()):
        if need in NEEDS:
            return NEEDS[need]
    case_id: str = case["id"]
    if case_id in FAULTY:
        return FAULTY[case_id]
    if "want" in case:
        if case_id in OTHER_SWITCHES:
            return OTHER_SWITCHES[case_id]
        for beginning, why in CEL_GO.items():
            if case_id.startswith(beginning):
                return why
    return None
