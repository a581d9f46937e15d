/* The one function of the library for programs that others find: the core in an interpreter calls it. */
#ifndef TFD_LEAVE_PROGRAM_H
#define TFD_LEAVE_PROGRAM_H

#define TFD_LEAVE_PROGRAM "tfdarshan_leave_program"
typedef int tfd_leave_program_function(int keep);

/* Ends the recording of this process; its spool is kept where `keep` says so. 0: it does not record it. */
tfd_leave_program_function tfdarshan_leave_program;

#endif
