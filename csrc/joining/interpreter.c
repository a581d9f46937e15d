/* Modules whose import has a process recorded: of the session that its environment names, and of those that its job
 * begins later. They are in the same library as the core, so that a process that starts needs no package of
 * Python's for them. What cannot be done is left: the process goes on as without it. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <errno.h>
#include <stdlib.h>

#include "job/session_name.h"
#include "job/unseen_program.h"
#include "joining/take_over.h"
#include "tfdarshan.h"

/* An address in the interpreter, which an executable may hold, or a library. */
static const void *interpreter(void)
{
    return (const void *)PyModuleDef_Init;
}

static void join(void)
{
    const char *folder = tfd_named_spool_folder();
    if (folder) {
        /* what it has is the interpreter's own start, as it is left out without it */
        tfd_library_leaves(false);
        int status = tfd_session_join(folder);
        if (status && status != -ESRCH)
            tfd_note_unseen_self(folder, TFD_PROGRAM_NOT_JOINED);
    }
    tfd_job_wait_for_sessions(interpreter());
}

/* tfdarshan._job, of a process that may record later; `name` is what its environment says. */
static int begin_job(PyObject *module)
{
    if (tfd_waiting_library_leaves())
        tfd_job_meet(interpreter());
    tfd_job_begin(interpreter());
    const char *name = getenv(TFD_SESSION_VARIABLE);
    return name ? PyModule_AddStringConstant(module, "name", name) : 0;
}

static struct PyModuleDef start = {.m_base = PyModuleDef_HEAD_INIT, .m_name = "_start"};

/* Of a program that starts: tfdarshan_join.pth loads it. An interpreter may come here twice, as in a virtual
 * environment. */
PyMODINIT_FUNC PyInit__start(void)
{
    static bool has_begun;
    if (!has_begun)
        join();
    has_begun = true;
    return PyModuleDef_Init(&start);
}

static PyModuleDef_Slot job_slots[] = {{Py_mod_exec, (void *)begin_job}, {0, NULL}};
static struct PyModuleDef job = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_job",
    .m_slots = job_slots,
};

PyMODINIT_FUNC PyInit__job(void)
{
    return PyModuleDef_Init(&job);
}
