/* Modules whose import joins the process to the session that its environment names, and to those that its job begins
 * later. They are in the core's library, so that a starting process needs no Python package for them. If joining fails,
 * the process goes on unrecorded. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/whole_file.h"
#include "job/session_name.h"
#include "job/unseen_program.h"
#include "joining/take_over.h"
#include "tfdarshan.h"

/* Return an address in the interpreter, which is in the executable or in a library. */
static const void *interpreter(void)
{
    return (const void *)PyModuleDef_Init;
}

/* Waits for the first import of a module in which processes train, and has its framework followed then. */
/* clang-format off */
static const char finder[] =
    "import sys\n"
    "ahead_ns, *modules = told.split()\n"
    "class Finder:\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        if name not in modules or self not in sys.meta_path:\n"
    "            return None\n"
    "        sys.meta_path.remove(self)\n"
    "        from importlib.util import find_spec\n"
    "        try:\n"
    "            from tfdarshan.frameworks.following import join\n"
    "            join(folder, int(ahead_ns))\n"
    "        except Exception:\n"
    "            pass\n"
    "        return find_spec(name)\n"
    "sys.meta_path.insert(0, Finder())\n";
/* clang-format on */

static PyObject *run_finder(const char *folder, const char *told)
{
    PyObject *code = Py_CompileString(finder, "<tfdarshan>", Py_file_input);
    PyObject *names =
        Py_BuildValue("{sOssss}", "__builtins__", PyEval_GetBuiltins(), "folder", folder, "told", told);
    PyObject *done = code && names ? PyEval_EvalCode(code, names, names) : NULL;
    Py_XDECREF(code);
    Py_XDECREF(names);
    return done;
}

/* The process may train: see tfdarshan/frameworks/following.py, which writes this file. */
static void follow_frameworks(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/followed", folder) >= (int)sizeof path)
        return;
    char *told = tfd_read_whole(path);
    PyObject *done = told ? run_finder(folder, told) : NULL;
    if (!done)
        PyErr_Clear();
    Py_XDECREF(done);
    free(told);
}

static void join(void)
{
    const char *folder = tfd_named_spool_folder();
    if (folder) {
        /* that library has recorded the interpreter's own start, which other sessions leave out too */
        tfd_library_leaves(false);
        int status = tfd_session_join(folder);
        if (status && status != -ESRCH)
            tfd_note_unseen_self(folder, TFD_PROGRAM_NOT_JOINED);
        if (!status)
            follow_frameworks(folder);
    }
    tfd_job_wait_for_sessions(interpreter());
}

/* The module tfdarshan._job, for a process that may record later; `name` is the variable in its environment. */
static int begin_job(PyObject *module)
{
    if (tfd_waiting_library_leaves())
        tfd_job_meet(interpreter());
    tfd_job_begin(interpreter());
    const char *name = getenv(TFD_SESSION_VARIABLE);
    return name ? PyModule_AddStringConstant(module, "name", name) : 0;
}

static struct PyModuleDef start = {.m_base = PyModuleDef_HEAD_INIT, .m_name = "_start"};

/* tfdarshan_join.pth loads this at an interpreter's start. An interpreter may come here twice, such as in a virtual
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
