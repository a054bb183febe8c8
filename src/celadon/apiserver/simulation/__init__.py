"""Clusters that come alive: what controllers, a scheduler and kubelets would do, on nodes that only
say that they are there.

Read `cluster_client` (what a simulated controller sees and may ask), `workload_controller` (what
they have in common), then one at a time. What an object should become is a pure function of what
there is (`planning`); the controller beside it reads, asks, and writes. All writes are requests, so
admission judges them as those of the controller. Nothing here runs, or is loaded, unless a server
is told to simulate workloads.
"""
