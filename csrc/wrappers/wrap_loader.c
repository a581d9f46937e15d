/* Wrappers that record nothing but keep the recorder's state right. */
#define _GNU_SOURCE
#include "wrappers/wrap_loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attach_lock.h"
#include "hooks/dlsym_stub.h"
#include "hooks/got_patch.h"
#include "hooks/hook_table.h"
#include "recorder/recording.h"
#include "recorder/session.h"
#include "recorder/slots.h"
#include "wrappers/wrappers.h"

static struct tfd_attach_report late; /* report on libraries that were loaded since the session began */

void tfd_late_libraries_reset(void)
{
    late = (struct tfd_attach_report){0};
}

void tfd_late_libraries_report(struct tfd_attach_report *report)
{
    report->slots_foreign += late.slots_foreign;
    report->slots_refused += late.slots_refused;
}

/* Patching allocates memory and takes the loader's locks. So it happens only
 * before dlsym, which takes them itself and which no signal handler may call.
 * This waits for other threads that scan or patch: they may have begun before
 * the caller loaded the library that it is about to use. */
static void patch_late_libraries(void)
{
    int saved_errno = errno, cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (tfd_attach_lock_timed()) {
        if (tfd_session.active && tfd_got_stale())
            tfd_got_patch(&late);
        tfd_attach_unlock();
    }
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
}

__attribute__((used)) static void before_dlsym(void)
{
    /* A child's first call may come from the new library. */
    if (atomic_load(&tfd_shared->generation) || atomic_load(&tfd_shared->child_pending))
        patch_late_libraries();
}

/* vfork must be jumped to as well (hooks/dlsym_stub.h): it returns twice, and our stack frame would be gone the second
 * time. */
__attribute__((used)) static void before_vfork(void)
{
    tfd_lend_to_vfork_child();
}

__attribute__((used)) static void *next_dlsym(void)
{
    return tfd_next_of(TFD_HOOK_dlsym);
}

__attribute__((used)) static void *next_vfork(void)
{
    return tfd_next_of(TFD_HOOK_vfork);
}

TFD_DLSYM_STUB(tfd_wrap_dlsym, before_dlsym, next_dlsym);

#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl tfd_wrap_vfork\n"
        ".hidden tfd_wrap_vfork\n"
        ".type tfd_wrap_vfork, @function\n"
        "tfd_wrap_vfork:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "sub $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "call before_vfork\n"
        "call next_vfork\n"
        "add $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "jmp *%rax\n"
        ".cfi_endproc\n"
        ".size tfd_wrap_vfork, . - tfd_wrap_vfork\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl tfd_wrap_vfork\n"
        ".hidden tfd_wrap_vfork\n"
        ".type tfd_wrap_vfork, %function\n"
        "tfd_wrap_vfork:\n"
        ".cfi_startproc\n"
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_adjust_cfa_offset 16\n"
        "bl before_vfork\n"
        "bl next_vfork\n"
        "mov x16, x0\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_adjust_cfa_offset -16\n"
        "br x16\n"
        ".cfi_endproc\n"
        ".size tfd_wrap_vfork, . - tfd_wrap_vfork\n");
#endif

/* A child of vfork runs in the parent's memory, so it must not finish the parent's recording. */
void tfd_wrap__exit(int status)
{
    tfd_before_end();
    TFD_NEXT(_exit)(status);
    __builtin_unreachable();
}

void tfd_wrap__Exit(int status)
{
    tfd_before_end();
    TFD_NEXT(_Exit)(status);
    __builtin_unreachable();
}
