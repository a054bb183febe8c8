"""`celadon audit --fleet`: many sources, cut into parts that workers audit, put together in order.

Read `fleet_file` (which sources there are), `fleet_parts` (what a source is cut into), `fleet_work`
(what a worker does: surveys and parts), `fleet_engines` (workers here, or those of a cluster of
Dask), `ordered_work` (the order of results, and what becomes of work that fails), `finished_work`
(results that are kept, so that an audit can go on where it was stopped; `plain_records` is how they
are written, `cluster_memory` has those of an audit of one cluster) and `fleet_run`, which has it
all in a row. `fleet_report` is what formats show.
"""
