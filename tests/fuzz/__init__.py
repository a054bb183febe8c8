"""Random search for disagreements: `make fuzz`, or `python -m tests.fuzz --help`.

Three campaigns, each from a seed, each shrinking what it finds:

* *expressions*: the plain and the metered variant of a program against the interpreter of
  `tests.properties.interpreter`, which shares nothing with the generators: value, error, cost;
* *policies*: whole decisions of `celadon check` against those of the API server's handler, on
  random policies and objects;
* *schemas*: custom resources under random schemas, likewise.

With `--server URL` the last two ask a real Kubernetes API server instead of ours, so that anybody
can audit on a cluster of their own how exact we are. Objects are only ever created with `dryRun`;
what is made besides (a namespace, policies, definitions) is named `celadon-fuzz-...` and deleted.

Read `pieces` (random texts that can be made smaller), `typed_expressions`, then `variants` and
`decisions`, which compare.
"""
