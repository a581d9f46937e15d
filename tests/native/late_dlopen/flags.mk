# outer needs inner at run time only: it must be found by name, through outer's RUNPATH, both ways.
LDFLAGS_late_dlopen_libouter = -Wl,--no-as-needed -L$(OUT)/late_dlopen -linner -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
$(OUT)/late_dlopen/libouter.so: $(OUT)/late_dlopen/libinner.so
