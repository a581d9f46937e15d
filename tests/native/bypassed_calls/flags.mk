# Libraries of functions, and libraries that call them: bound when loaded, as Python does with its modules.
BYPASSED_CALLS_LINK = -Wl,-z,now -L$(OUT)/bypassed_calls -Wl,-rpath,'$$ORIGIN'
LDFLAGS_bypassed_calls_libuser = $(BYPASSED_CALLS_LINK) -lcontexts
LDFLAGS_bypassed_calls_libother = $(BYPASSED_CALLS_LINK) -lcounted
LDFLAGS_bypassed_calls_libways = $(BYPASSED_CALLS_LINK) -lcontexts
$(OUT)/bypassed_calls/libuser.so $(OUT)/bypassed_calls/libways.so: $(OUT)/bypassed_calls/libcontexts.so
$(OUT)/bypassed_calls/libother.so: $(OUT)/bypassed_calls/libcounted.so
