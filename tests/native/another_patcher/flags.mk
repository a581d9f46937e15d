# The other patcher writes to the slots as it finds them.
LDFLAGS_another_patcher = -Wl,-z,lazy,-z,norelro -L$(OUT)/another_patcher -Wl,-rpath,'$$ORIGIN'
LDFLAGS_another_patcher_main = -lpatcher
$(OUT)/another_patcher/main: $(OUT)/another_patcher/libpatcher.so
