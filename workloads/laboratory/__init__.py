"""Jobs drawn at random, whose best cure is found by trying them all: what the findings are held against."""
