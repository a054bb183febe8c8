"""Policies: compiled (`compile`), given their params (`params`), evaluated (`evaluate`)."""
