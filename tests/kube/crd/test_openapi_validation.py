"""What checks of one value find, put together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.crd.openapi_validation import Result
from celadon.kube.fieldpath import ROOT, ErrorType, FieldError

_ERRORS = st.builds(
    FieldError,
    st.sampled_from((ErrorType.INVALID, ErrorType.REQUIRED)),
    st.sampled_from((ROOT, ROOT.child("a"), ROOT.child("a", "b"))),
    detail=st.sampled_from(("too long", "too short")),
)


@given(st.lists(st.tuples(st.lists(_ERRORS, max_size=4), st.booleans()), max_size=6))
def test_nothing_is_said_again(found: list[tuple[list[FieldError], bool]]) -> None:
    """Errors taken from other checks are not, and those found here are always said."""
    result = Result()
    wanted: list[FieldError] = []
    for errors, here in found:
        if here:
            result.errors += errors
            wanted += errors
        else:
            result.take(Result(errors, matches=1))
            said = {(one.path.text, one.detail, one.type) for one in wanted}
            wanted += [one for one in errors if (one.path.text, one.detail, one.type) not in said]
    assert result.errors == wanted
    assert result.matches == sum(not here for _, here in found)
