"""The API server under load, side by side with a bare handler of the same HTTP server.

`python -m bench.server` measures and prints; `--write` also puts the figures into
docs/performance.md. Read `connection` (a client that is not the bottleneck), `processes` (servers
as processes, and what they use), `workloads` (what is asked of them), `measuring` (rounds), then
`figures` (goals) and `page`. `beside` asks kube-apiserver for the same.
"""
