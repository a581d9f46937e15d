# A program and a library of each kind of slot.
SLOT_KINDS_OUT := $(OUT)/slot_kinds
SLOT_KINDS_COMPILE_jump := -DKIND_jump
SLOT_KINDS_COMPILE_got := -DKIND_got -fno-plt
SLOT_KINDS_COMPILE_data := -DKIND_data
SLOT_KINDS_COMPILE_pie := -fPIE
SLOT_KINDS_COMPILE_nopie := -fno-pic -fno-pie
SLOT_KINDS_SOURCES := slot_kinds/program.c slot_kinds/calls.c slot_kinds/addresses.h Makefile slot_kinds/flags.mk
SLOT_KINDS_LINK_pie := -pie
SLOT_KINDS_LINK_nopie := -no-pie
SLOT_KINDS := $(foreach kind,jump got data,$(foreach bound,lazy now,$(foreach relro,relro norelro,\
    $(kind)_$(bound)_$(relro))))
slot_kinds_word = $(word $(2),$(subst _, ,$(1)))

define slot_kinds_rules
all: $(SLOT_KINDS_OUT)/libcalls_$(1).so $(SLOT_KINDS_OUT)/program_pie_$(1) $(SLOT_KINDS_OUT)/program_nopie_$(1)

$(SLOT_KINDS_OUT)/libcalls_$(1).so: slot_kinds/calls.c Makefile slot_kinds/flags.mk
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $(SLOT_KINDS_COMPILE_$(call slot_kinds_word,$(1),1)) -shared -o $$@ $$< \
	    -Wl,-z,$(call slot_kinds_word,$(1),2),-z,$(call slot_kinds_word,$(1),3)

$(SLOT_KINDS_OUT)/program_%_$(1): $(SLOT_KINDS_SOURCES) $(SLOT_KINDS_OUT)/addresses_%.o $$(CORE) $$(HEADERS)
	$$(CC) $$(CFLAGS) $(SLOT_KINDS_COMPILE_$(call slot_kinds_word,$(1),1)) $$(SLOT_KINDS_COMPILE_$$*) \
	    $$(SLOT_KINDS_LINK_$$*) -o $$@ $$(filter %.c %.o,$$^) $$(CORE) -Wl,-rpath,'$$$$ORIGIN/..' \
	    -Wl,-z,$(call slot_kinds_word,$(1),2),-z,$(call slot_kinds_word,$(1),3) $$(LDLIBS)
endef
$(foreach kinds,$(SLOT_KINDS),$(eval $(call slot_kinds_rules,$(kinds))))

$(SLOT_KINDS_OUT)/addresses_%.o: slot_kinds/addresses.c slot_kinds/addresses.h Makefile slot_kinds/flags.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SLOT_KINDS_COMPILE_$*) -c -o $@ $<
