"""Answers as people read them: tables with the columns of every kind, and metadata alone.

Read first `tables` (what a table is made of, and which cells a resource has), then
`printer_cells`, which interprets the `cell` of each column in `data/resources`. `cell_texts` has
what no such description can say. Pure functions; the time of asking is an argument.
"""
