"""Writes the tables of a session: batch by batch, in bounded memory."""
