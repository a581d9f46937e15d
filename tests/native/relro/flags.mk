LDFLAGS_relro = -Wl,-z,now,-z,relro
