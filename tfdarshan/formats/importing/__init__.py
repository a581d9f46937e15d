"""Turns other programs' logs into sessions."""
