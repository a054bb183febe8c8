"""Files of a project: those that commands are configured by, and those that they change."""
