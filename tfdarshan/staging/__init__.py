"""The staging advisor: which files to copy to a faster tier, what that gives, and the copying itself."""
