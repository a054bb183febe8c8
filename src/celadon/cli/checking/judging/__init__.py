"""Judging objects: one (`object_judging`), and many in several processes (`parallel_judging`)."""
