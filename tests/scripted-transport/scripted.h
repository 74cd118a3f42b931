/* The scripted transport, for the programs of the tests (README.md tells what it is).
 *
 * A script determines the outcome of each call of an operation. It is a list of rules, separated by
 * blanks:
 *
 *     OPERATION:ACTION[=N][/K]
 *
 * OPERATION is a name of operations.def, or `*` for all but `connect`. The first rule applies whose
 * K (default 1) divides the number of the call, counted from 1 for each operation since the script
 * was set. ACTION:
 *
 *     ok            complete when the call returns
 *     no_resource   refused with UCS_ERR_NO_RESOURCE until the interface has made progress N times
 *     late          UCS_INPROGRESS; complete in the N-th progress of the interface from now
 *     thread        like late, but the completion is called by another thread
 *     error         UCS_ERR_IO_ERROR; with =N from a completion as of `late`
 *     fail          the endpoint fails: as error=N, with UCS_ERR_CONNECTION_RESET, and takes along
 *                   all that is outstanding on it; then the interface's error handler is told
 *
 * N is 1 if it is not given. Operations without a completion (short, bcopy, atomic posts) do not
 * know `late` and `thread`; for them these mean `ok`. `connect:late=N` makes a new endpoint refuse
 * everything until its interface has made progress N times.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the script, which is $SCRIPTED_TRANSPORT at first. Ends the program if it is wrong. */
void scripted_transport_script(const char* rules);

/* Later operations go into the oracle under this name (below), until the next call. */
void scripted_transport_mark(const char* name);

/* Memory of a device that does not exist: host memory that UCX takes for a GPU's, if it is run with
 * UCX_MEMTYPE_CACHE=n and has the transport script_cp, which copies to and from it. One thread at a
 * time may ask for it; it is never given back. */
void* scripted_transport_device_memory(unsigned long bytes);

#ifdef __cplusplus
}
#endif
