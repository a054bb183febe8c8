"""Lists and maps: how they are read (`container_access`), maps, lists with a schema."""
