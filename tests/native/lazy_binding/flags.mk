LDFLAGS_lazy_binding = -Wl,-z,lazy
