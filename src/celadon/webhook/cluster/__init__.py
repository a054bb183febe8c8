"""What a webhook needs of the cluster that it serves: a client, caches, and policies out of them.

Read `cluster_client` and `watched_collection` first.
"""
