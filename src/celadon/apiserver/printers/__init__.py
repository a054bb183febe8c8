"""Answers as people read them: tables with the columns of every kind, and metadata alone.

Read first `table_forms` (what a table is made of), then `table_shapes` (which cells a resource
has); the cells of each kind are in the modules named after what they show. Pure functions; the time
of asking is an argument.
"""
