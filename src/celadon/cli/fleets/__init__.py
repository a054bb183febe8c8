"""`celadon audit --fleet`: many sources, cut into parts that workers audit, put together in order.

Read `fleet_parts` (what a source is cut into), `fleet_engines` (workers here, or those of a cluster
of Dask), `finished_work` (results that are kept, so that an audit can go on where it was stopped,
of one cluster, too) and `fleet_run`, which has it all in a row: the file of a fleet, the work, the
order of results, and what becomes of work that fails.
"""
