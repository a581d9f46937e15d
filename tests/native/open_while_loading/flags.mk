LDFLAGS_open_while_loading_main = -rdynamic
