"""Jobs drawn at random, whose best fix is found by trying them all: what the findings are held against."""
