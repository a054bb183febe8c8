"""The canonical layout of expressions: where their lines end, and where their spaces are.

    laid_out("a&&b", width=80)          "a && b"
    laid_out("a &&", width=80)          None: that is no expression

Nothing but white space changes. Literals keep their spelling, parentheses and trailing commas stay,
and every comment stays between the two tokens that it stood between: on the line of the first, or
on a line of its own. So texts with the same tokens and comments have one layout, a layout is its
own, and the tree is that of the text.

`commented_tokens` reads the tokens with the comments between them, `line_reading` makes of them the
pieces of `line_pieces`, which know where lines may end, and `line_filling` chooses among these.
"""

from celadon.cel.layout.commented_tokens import commented_tokens
from celadon.cel.layout.line_reading import UNLIMITED, laid_out

__all__ = ["UNLIMITED", "commented_tokens", "laid_out"]
