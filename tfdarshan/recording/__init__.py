"""Inside the job: attaches, records, and writes the session; also what writes it later, from its spools."""
