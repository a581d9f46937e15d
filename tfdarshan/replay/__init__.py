"""A recorded job as a small queueing network: how long it would take if something about it were different."""
