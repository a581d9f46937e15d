"""Many jobs at once: a catalogue of sessions and Darshan logs, and what is true of all of them together."""
