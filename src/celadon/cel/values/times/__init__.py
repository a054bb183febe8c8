"""Timestamps and durations: `timestamps`, their parts (`calendar`), named time zones (`zones`)."""
