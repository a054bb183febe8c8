"""`celadon check`: documents to requests, requests to verdicts, verdicts to a report.

Read `check_run` first: it is the order of the work.
"""
