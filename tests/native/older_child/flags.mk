LDFLAGS_older_child = -Wl,-z,now,-z,relro
