"""Text to tree, and back.

Read `lexer`, then `descent` (the quick parser, for expressions without errors) with `macros` and
their expansion. What is wrong with an expression is found by parsing it again, slowly: `parser` and
`recovery`. `unparser` writes a tree as canonical text.
"""
