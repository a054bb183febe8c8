"""The store on a cluster of etcd, for several processes that serve the same objects.

    store = await open_etcd(EtcdSettings(parse_endpoints("https://10.0.0.1:2379"), ca, cert, key))
    ...
    await store.aclose()

Needs the extra `celadon[etcd]` (pycurl and protobuf), which nothing else loads. Read first:
`etcd_store` (what happens to reads and writes), `etcd_client` (how changes come here, members that
fail, and one call), `etcd_messages` (what is sent). docs/decisions/0029-etcd-store.md says why it
is so.
"""

from celadon.storage.etcd.etcd_client import EtcdSettings, parse_endpoints
from celadon.storage.etcd.etcd_store import EtcdStore, open_etcd

__all__ = ["EtcdSettings", "EtcdStore", "open_etcd", "parse_endpoints"]
