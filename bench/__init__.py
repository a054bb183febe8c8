"""The benchmarks: Celadon against functions written by hand and against other CEL engines.

`make bench` runs `python -m bench` in an environment of its own and writes `docs/performance.md`
and `docs/performance.svg`. Read `case` and `expressions` (what is measured), `measure` (how), then
`report` (what is made of it).
"""
