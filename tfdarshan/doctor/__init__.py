"""Does tfdarshan work here: known calls, each proven by what was recorded of it."""
