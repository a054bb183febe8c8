"""What `celadon explain` does behind its arguments.

`recorded_requests` finds requests in logs, `outline` turns an explanation into
items for people, `annotated_source` an expression into a text with values under its parts. How
these look is in `celadon.cli.report`.
"""
