# The other patcher writes to the slots as it finds them.
LDFLAGS_another_patcher = -Wl,-z,lazy,-z,norelro
