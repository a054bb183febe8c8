"""What the panes of the playground offer while one types: members of manifests, and CEL."""
