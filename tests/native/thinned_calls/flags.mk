LDFLAGS_thinned_calls := -lm
