from __future__ import annotations

from celadon.cel.parsing import tokens
from celadon.cel.parsing.antlr_parser import TokenStream


def test_tokens_are_read_when_they_are_looked_at() -> None:
    found: list[tuple[str, int]] = []
    stream = TokenStream("a @ b # c", lambda message, offset: found.append((message, offset)))
    assert not found
    assert stream.kind(2) == tokens.IDENTIFIER
    assert found == [("token recognition error at: '@'", 2)]
    stream.consume()
    assert stream.token(1).text == "b"
    assert len(found) == 1
    assert stream.token(2).text == "c"
    assert len(found) == 2


def test_the_end_of_input_stays() -> None:
    stream = TokenStream("a", lambda message, offset: None)
    assert stream.previous() is None
    stream.consume()
    stream.consume()
    assert stream.kind(1) == stream.kind(5) == tokens.EOF
    assert stream.token(1).start == 1
    previous = stream.previous()
    assert previous is not None
    assert previous.text == "a"


def test_text_between_tokens_has_white_space_but_no_junk() -> None:
    stream = TokenStream("a /**/ @ . // c\n b", lambda message, offset: None)
    first, last = stream.token(1), stream.token(6)
    assert [stream.token(n).text for n in range(1, 7)] == ["a", "/", "*", "*", "/", "."]
    assert stream.text_between(first, last) == "a /**/  ."
    assert stream.text_between(last, stream.token(7)) == ". // c\n b"
    assert stream.text_between(first, stream.token(8)) == "a /**/  . // c\n b"
