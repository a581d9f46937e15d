# Through outer's RUNPATH the loader finds inner, which outer needs, and byname, which outer only asks dlopen for.
LDFLAGS_late_dlopen_libouter = -Wl,--no-as-needed -L$(OUT)/late_dlopen -linner -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
$(OUT)/late_dlopen/libouter.so: $(OUT)/late_dlopen/libinner.so
