# A function's address, taken here, is then that of a stub in the program.
CFLAGS_no_pie = -fno-pic -fno-pie
LDFLAGS_no_pie_main = -no-pie -Wl,-z,lazy
