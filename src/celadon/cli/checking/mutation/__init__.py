"""What mutating policies make of objects: how they are asked, and how it is told."""
