"""Findings: what makes a job slow, what each costs in seconds, and what its fix gives."""
