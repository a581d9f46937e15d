"""Reads through mapped files against oracles: timed touches, getrusage, cachestat, the device's counters."""
