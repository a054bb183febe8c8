"""What is counted about files of the server."""

from __future__ import annotations

from celadon.apiserver.operation.metric_table import exposition
from celadon.apiserver.operation.webhook_counts import StaticReloads, server_id


def test_a_server_has_a_name_by_its_host() -> None:
    """As the Lease of a kube-apiserver is named."""
    assert server_id("host") == "apiserver-dd6egxogzxmivwqge6rcnj6rwi"


def test_families() -> None:
    times = iter([1.5, 2.0, 3.0])
    reloads = StaticReloads(lambda: next(times), "host")
    assert exposition(reloads.families()) == ""
    reloads.loaded("P", "sha256:1")
    reloads.failed("P")
    reloads.loaded("P", "sha256:2")
    prefix = "apiserver_manifest_admission_config_controller_"
    lines = [
        one.removeprefix(prefix)
        for one in exposition(reloads.families()).splitlines()
        if not one.startswith("#")
    ]
    server = lines[0].partition('apiserver_id_hash="')[2].partition('"')[0]
    assert server.startswith("sha256:")
    where = f'apiserver_id_hash="{server}",plugin="P"'
    assert lines == [
        f'automatic_reload_last_timestamp_seconds{{{where},status="failure"}} 2',
        f'automatic_reload_last_timestamp_seconds{{{where},status="success"}} 3',
        f'automatic_reloads_total{{{where},status="failure"}} 1',
        f'automatic_reloads_total{{{where},status="success"}} 2',
        f'last_config_info{{apiserver_id_hash="{server}",hash="sha256:2",plugin="P"}} 1',
    ]
