LDFLAGS_hidden_library_libhidden = -Wl,--hash-style=gnu
