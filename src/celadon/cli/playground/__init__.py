"""The playground: what a page shows about a policy and a request, decided as `celadon check` does.

`panes` says what is asked: a mode, a release, and panes of text. `judging` has the answer,
`decide`; it remembers what has not changed. The page itself is in `web/`; it runs this in the
browser, through Pyodide, so nothing here may need files, processes or a network.
"""
