"""The webhook under load, beside webhooks that others would write by hand."""
