"""What tfdarshan knows of each framework: a folder for each, and nothing of it elsewhere."""
