"""Recorded answers of a real API server, replayed against Celadon's.

`scenarios` names the groups of recordings and what is not reached; `replay_tool` is the shared tool
that compares; `server_process` starts `celadon serve`. `python -m tests.recorded` runs everything,
in process and over HTTPS (README.md says how to do that by hand).
"""
