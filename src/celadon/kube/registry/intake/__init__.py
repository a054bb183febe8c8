"""What comes with a request: bodies, options. Read `incoming_objects` first."""
