CFLAGS_no_plt = -fno-plt
