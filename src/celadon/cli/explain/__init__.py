"""What `celadon explain` does behind its arguments.

`explained_objects` runs the check with somebody looking on, `outline` turns an explanation into
items for people, `annotated_source` an expression into a text with values under its parts. How
these look is in `celadon.cli.report`.
"""
