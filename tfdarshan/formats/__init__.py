"""Other programs' files: sessions written in their formats, and theirs read as sessions."""
