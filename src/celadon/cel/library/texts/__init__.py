"""Libraries about strings and bytes: functions, formatting, regular expressions, encoders."""
