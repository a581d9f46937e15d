"""Files of a session: what was done with each, by the exact counters."""
