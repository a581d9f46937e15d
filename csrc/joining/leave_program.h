/* The only function that the library for programs exports: the core in an interpreter calls it. */
#ifndef TFD_LEAVE_PROGRAM_H
#define TFD_LEAVE_PROGRAM_H

#define TFD_LEAVE_PROGRAM "tfdarshan_leave_program"
typedef int tfd_leave_program_function(int keep);

/* End the recording of this process and keep its spool if `keep` is not 0; return 0 if the library does not record this
 * process. */
tfd_leave_program_function tfdarshan_leave_program;

#endif
