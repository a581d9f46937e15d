"""Writes a session: spools become tables and metadata."""
