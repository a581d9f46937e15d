"""Ranks, processes and threads of a session, and the processors they had."""
