"""What a store has on the disk: one SQLite file, checksums in it, a mark and a reserve beside it.

`sqlite_file` opens it, `row_checksums` and `durable_mark` tell whether it is as it was written,
`disk_reserve` keeps room for deletions, `data_copies` are backups.
"""

from celadon.store.errors import FileDamaged
from celadon.store.files.data_copies import DataReport, FileExists, backup, check, restore

__all__ = ["DataReport", "FileDamaged", "FileExists", "backup", "check", "restore"]
