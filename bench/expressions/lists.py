"""Sets, sums, and other questions about lists."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from bench.case import Case, JsonObject

CAPABILITIES: Final = frozenset({"NET_BIND_SERVICE", "CHOWN"})
EXTENSIONS: Final = frozenset({"pg_stat_statements", "pgcrypto", "postgis"})
BACKUPS: Final = frozenset({"databases.example.com/backup", "databases.example.com/archive"})


def known_extensions(database: JsonObject) -> bool:
    return EXTENSIONS.issuperset(database["spec"]["extensions"])


def added_capabilities(pod: JsonObject) -> bool:
    return all(
        CAPABILITIES.issuperset(container["securityContext"]["capabilities"]["add"])
        for container in pod["spec"]["containers"]
    )


def backup_finalizer(database: JsonObject) -> bool:
    metadata = database["metadata"]
    return "finalizers" in metadata and not BACKUPS.isdisjoint(metadata["finalizers"])


def total_replicas(database: JsonObject) -> bool:
    return sum(shard["replicas"] for shard in database["spec"]["shards"]) <= 12


def sorted_zones(database: JsonObject) -> bool:
    zones = [shard["zone"] for shard in database["spec"]["shards"]]
    return zones == sorted(zones)


CASES: Final = (
    Case(
        known_extensions,
        "sets.contains(['pg_stat_statements', 'pgcrypto', 'postgis'], object.spec.extensions)",
        "PostgresCluster",
    ),
    Case(
        added_capabilities,
        "object.spec.containers.all(c,"
        " sets.contains(['NET_BIND_SERVICE', 'CHOWN'], c.securityContext.capabilities.add))",
        "Pod",
    ),
    Case(
        backup_finalizer,
        "has(object.metadata.finalizers) && sets.intersects(object.metadata.finalizers,"
        " ['databases.example.com/backup', 'databases.example.com/archive'])",
        "PostgresCluster",
    ),
    Case(
        total_replicas,
        "object.spec.shards.map(s, int(s.replicas)).sum() <= 12",
        "PostgresCluster",
    ),
    Case(
        sorted_zones,
        "object.spec.shards.map(s, string(s.zone)).isSorted()",
        "PostgresCluster",
    ),
)
