#define _GNU_SOURCE
#include "darshan_gate.h"

__thread uint64_t tfd_darshan_recorded __attribute__((tls_model("initial-exec")));
uint32_t tfd_darshan_attached;
uint64_t tfd_darshan_copied = UINT64_MAX;

__thread struct tfd_gate_passage tfd_gate_passage __attribute__((tls_model("initial-exec")));
__thread uint32_t tfd_gate_passed_in __attribute__((tls_model("initial-exec")));
_Atomic uint32_t tfd_gate_generation;
_Atomic uint64_t tfd_gate_nested_calls;
void *tfd_darshan_wrapper[TFD_HOOK_COUNT];
pthread_mutex_t tfd_gate_record_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

void tfd_gate_open(uint32_t generation)
{
    atomic_store(&tfd_gate_nested_calls, 0);
    tfd_darshan_copied = UINT64_MAX;
    tfd_darshan_attached = 1;
    atomic_store(&tfd_gate_generation, generation);
}

void tfd_gate_detach(void)
{
    tfd_darshan_attached = 0;
}

void tfd_gate_close(void)
{
    atomic_store(&tfd_gate_generation, 0);
}

void tfd_gate_lock(void)
{
    gate_enter(TFD_HOOK_COUNT); /* a signal handler of this thread must not wait for it */
    pthread_mutex_lock(&tfd_gate_record_lock);
}

void tfd_gate_unlock(void)
{
    pthread_mutex_unlock(&tfd_gate_record_lock);
    tfd_gate_passage = (struct tfd_gate_passage){0};
}

void tfd_gate_reset_in_child(void)
{
    tfd_gate_record_lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    tfd_gate_passage = (struct tfd_gate_passage){0};
    tfd_darshan_recorded = 0;
    tfd_gate_close();
    tfd_gate_detach();
}
