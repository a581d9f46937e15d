/* The library for late joins: tfdarshan_join.pth loads it into an interpreter that starts while no session records.
 * It is a hundredth of the core's size, and loads the core when a session begins. It reads the job's page, patches a
 * few slots of the interpreter, and calls no function of Python but the one that makes it a module. If it fails, the
 * process goes on unrecorded. */
#define _GNU_SOURCE 1
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/backoff.h"
#include "base/kernel_io.h"
#include "base/process_identity.h"
#include "hooks/late_attach.h"
#include "job/job_page.h"
#include "job/missed_opens.h"
#include "joining/handover.h"

static char core_path[TFD_SPOOL_PATH_MAX];
static bool forks_alone; /* the process had one thread when it forked */
static bool waits;

/* Return an address in the interpreter, which is in the executable or in a library. */
static const void *interpreter(void)
{
    return (const void *)PyModuleDef_Init;
}

static int leave(void)
{
    bool waited = waits;
    waits = false;
    tfd_late_attach_leave();
    return waited;
}

static void hand_over(void)
{
    struct tfd_waited waited = {tfd_missed_opens(), tfd_kernel_io_excluded(), tfd_late_attach_found};
    void *core = dlopen(core_path, RTLD_NOW | RTLD_LOCAL);
    tfd_take_over_waiting_function *take_over =
        core ? (tfd_take_over_waiting_function *)(uintptr_t)dlsym(core, TFD_TAKE_OVER_WAITING) : NULL;
    if (take_over)
        take_over(interpreter(), leave, &waited);
    else
        leave();
    /* Calls under way that have not compared the counter yet go on to the core too. */
    tfd_late_attach_follow();
    tfd_late_attach_disarm();
}

static bool loads_once(void)
{
    enum { NOT_YET, LOADING, LOADED };
    static _Atomic int state;
    static struct tfd_attaching loader;
    int before = NOT_YET;
    if (atomic_compare_exchange_strong(&state, &before, LOADING)) {
        tfd_attaching_begin(&loader);
        hand_over();
        tfd_attaching_end(&loader);
        atomic_store(&state, LOADED);
    }
    for (int64_t since_ns = tfd_backoff_begins();
         atomic_load(&state) == LOADING && tfd_backoff_lasts(&loader, since_ns);)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return atomic_load(&state) == LOADED;
}

/* A session began or ended. Threads whose calls come meanwhile wait, so that these calls are recorded too. */
static void load_core(bool opens)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (!loads_once() && opens)
        tfd_missed_opens_add();
    pthread_setcancelstate(cancel_state, NULL);
}

static void before_fork(void)
{
    tfd_late_attach_hold();
    forks_alone = waits && tfd_has_one_thread();
}

/* Another thread of the parent may have held locks of the loader, which nobody releases in the child. Then the child
 * does not wait for sessions. */
static void after_fork_in_child(void)
{
    tfd_late_attach_release_in_child(forks_alone);
    tfd_missed_opens_forget();
    tfd_kernel_io_forget();
    waits = forks_alone;
    if (waits)
        tfd_late_attach_arm();
    else
        tfd_late_attach_disarm();
}

static void wait_for_sessions(void)
{
    const struct tfd_job_page *page = tfd_job_page_open();
    if (!page || !tfd_job_core(core_path, sizeof core_path) ||
        pthread_atfork(before_fork, tfd_late_attach_release, after_fork_in_child))
        return;
    tfd_late_attach_prepare(interpreter(), load_core);
    tfd_late_attach_set_seen(tfd_job_page_quiet_counter());
    tfd_late_attach_watch(&page->counter);
    tfd_late_attach_arm();
    waits = true;
}

__attribute__((visibility("default"))) int tfdarshan_leave_waiting(void)
{
    tfd_late_attach_disarm();
    return leave();
}

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT, .m_name = "_start"};

/* An interpreter may come here twice, as in a virtual environment. */
PyMODINIT_FUNC PyInit__start(void)
{
    static bool has_begun;
    if (!has_begun)
        wait_for_sessions();
    has_begun = true;
    return PyModuleDef_Init(&definition);
}
