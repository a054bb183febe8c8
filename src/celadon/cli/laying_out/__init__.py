"""`celadon fmt`: expressions in files get their canonical layout, and nothing else changes.

`expression_fields` says where expressions are, `scalar_rewriting` writes one back in the style of
its scalar, `file_layout` does so for a text and checks that it still says the same.
"""
