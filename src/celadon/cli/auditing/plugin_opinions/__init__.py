"""What the server's own plugins say of objects that exist, and of requests of the past."""
