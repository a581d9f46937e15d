# The calls with which `tfdarshan doctor` proves the hooks, made by a program without Python.
EVERY_HOOK_CALLS := $(wildcard $(ROOT)/csrc/probe/*.c)
LDFLAGS_every_hook_main = $(EVERY_HOOK_CALLS)
$(OUT)/every_hook/main: $(EVERY_HOOK_CALLS)
