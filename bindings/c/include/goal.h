/*
 * goal.h - schedules of group communication (GOAL) for C99 and C++11
 *
 * Chapter 2 of the ESPGOAL thesis (2011) defines most of these functions; "2009" marks those of the
 * paper that defined GOAL (ICPP 2009).
 *
 * The manual pages are made of the comments here. A comment that begins with PAGE begins a page.
 */
#ifndef GOAL_H
#define GOAL_H

#include <stddef.h>
#include <stdint.h>

#define GOAL_VERSION_MAJOR 0
#define GOAL_VERSION_MINOR 1
#define GOAL_VERSION_PATCH 0

#ifdef __cplusplus
/* The value of an argument that is left out, in C++. In C every argument is given. */
#define GOAL_DEFAULT(value) = value
extern "C" {
#else
#define GOAL_DEFAULT(value)
#endif

/*
 * PAGE goal - schedules of group communication for C99 and C++11
 *
 * A program describes a group operation as a graph of sends, receives and local operations, one for
 * each rank, compiles it, and runs it while it computes. Collectives as in MPI are there too. The
 * program is compiled with "cc program.c $(pkg-config --cflags --libs goal)" and started with
 * "goal-run -n 4 ./program". Here are the types and constants; these pages have the functions:
 */

/*
 * Handles are numbers in the form of pointers, which the library checks. A handle that was freed,
 * or is of another kind, gives GOAL_ERR_HANDLE and does no harm. NULL is no handle.
 */
typedef struct GOAL_Graph_s *GOAL_Graph;
typedef struct GOAL_Schedule_s *GOAL_Schedule;
typedef struct GOAL_Handle_s *GOAL_Handle;
typedef struct GOAL_Comm_s *GOAL_Comm;

/* An action of a graph. Valid ones are >= 0. */
typedef int64_t GOAL_Vertex;

#define GOAL_INVALID_VERTEX ((GOAL_Vertex)-1)
#define GOAL_HANDLE_NULL ((GOAL_Handle)0)
#define GOAL_COMM_WORLD ((GOAL_Comm)(uintptr_t)1)
#define GOAL_ANY_SOURCE (-1)
#define GOAL_ANY_TAG (-1)
#define GOAL_UNDEFINED (-1)
#define GOAL_IN_PLACE ((void *)(intptr_t)-1)

/* Spellings of the thesis' and the paper's listings. */
#define INVALID_VERTEX GOAL_INVALID_VERTEX
#define GOAL_requires GOAL_Requires
#define GOAL_Rcv GOAL_Recv

/* The memory of a buffer: that of the program, or the scratchpad, where its address is an offset. */
typedef enum { GOAL_USERSPACE = 0, GOAL_SCRATCHPAD = 1 } GOAL_MemType;

/* An offset in the scratchpad as the argument of a buffer. */
#define GOAL_OFFSET(bytes) ((void *)(uintptr_t)(bytes))

/* Local operations. GOAL_LAND, GOAL_LOR and GOAL_LXOR are logical ones of any type. */
typedef enum {
  GOAL_MAX = 0,
  GOAL_MIN = 1,
  GOAL_ADD = 2,
  GOAL_SUB = 3,
  GOAL_DIV = 4,
  GOAL_MUL = 5,
  GOAL_COPY = 6,
  GOAL_AND = 7,
  GOAL_OR = 8,
  GOAL_XOR = 9,
  GOAL_WTIME = 11,
  GOAL_LAND = 12,
  GOAL_LOR = 13,
  GOAL_LXOR = 14,
  GOAL_OP_LAST = 0x1ffff
} GOAL_Op;

/* Datatypes of local operations, whose width is another argument. */
typedef enum { GOAL_SINT = 0, GOAL_UINT = 1, GOAL_FLOAT = 2 } GOAL_DataType;

/* Datatypes with their width, for collectives. */
typedef enum {
  GOAL_INT8 = 0x008,
  GOAL_INT16 = 0x010,
  GOAL_INT32 = 0x020,
  GOAL_INT64 = 0x040,
  GOAL_BOOL = 0x101,
  GOAL_UINT8 = 0x108,
  GOAL_UINT16 = 0x110,
  GOAL_UINT32 = 0x120,
  GOAL_UINT64 = 0x140,
  GOAL_FLOAT16 = 0x210,
  GOAL_FLOAT32 = 0x220,
  GOAL_FLOAT64 = 0x240
} GOAL_Type;

/* A registered function as the operation of a collective, and a predefined one for GOAL_Exec. */
#define GOAL_USER_OP(fid) ((GOAL_Op)(0x10000 + (fid)))
#define GOAL_PREDEFINED(op, type) (0x40000000 | ((int)(op) << 16) | (int)(type))

/* Errors. Each has a sentence, which GOAL_Error_string returns. */
enum {
  GOAL_SUCCESS = 0,
  GOAL_ERR_INIT = -1,
  GOAL_ERR_FINALIZED = -2,
  GOAL_ERR_HANDLE = -3,
  GOAL_ERR_VERTEX = -4,
  GOAL_ERR_ARG = -5,
  GOAL_ERR_RANK = -6,
  GOAL_ERR_TAG = -7,
  GOAL_ERR_COUNT = -8,
  GOAL_ERR_BUFFER = -9,
  GOAL_ERR_MEMTYPE = -10,
  GOAL_ERR_OP = -11,
  GOAL_ERR_DATATYPE = -12,
  GOAL_ERR_GRAPH = -13,
  GOAL_ERR_LIMIT = -14,
  GOAL_ERR_BUSY = -15,
  GOAL_ERR_FAILED = -16,
  GOAL_ERR_STOPPED = -17,
  GOAL_ERR_STUCK = -18,
  GOAL_ERR_MEMORY = -19,
  GOAL_ERR_FILE = -20,
  GOAL_ERR_UNSUPPORTED = -21,
  GOAL_ERR_SYSTEM = -22,
  GOAL_ERR_RANK_LOST = -23,
  GOAL_ERR_INTERNAL = -24
};

/*
 * PAGE goal_group - start and end of a group, ranks, extensions, progress
 *
 * A group is the processes that a launcher started together, its ranks, from 0 on. Without a launcher
 * a process is a group of one. All functions of the library may be called from any thread.
 */

/*
 * Joins the group, once in a process. Returns when all ranks have called it. The group is that of
 * goal-run, or the processes that mpirun, mpiexec or srun have started. A program that calls
 * MPI_Init takes GOAL_Init_mpi of goal_mpi.h instead.
 */
int GOAL_Init(void);

/*
 * Gives each of the processes that start a group the bytes of all. It gets the context of
 * GOAL_Init_among and `bytes` bytes of this process, and stores those of all processes behind each
 * other, in the order of their ranks. Returns 0, or another number if it failed.
 */
typedef int (*GOAL_Exchange)(void *context, const void *own, size_t bytes, void *all);

/*
 * Joins a group of `size` processes that another launcher has started, as `rank`: all of them call
 * it, and tell each other their addresses and a key by `exchange`. Once in a process, instead of
 * GOAL_Init. Returns when all of them have called it. If the group can't begin, it fails on all of
 * them: if one has another GOAL_TABLE, for example, or can't be reached.
 */
int GOAL_Init_among(int rank, int size, GOAL_Exchange exchange, void *context);

/* Returns 1 if GOAL_Init was called with success, also after GOAL_Finalize; else 0. */
int GOAL_IsInitialized(void);

/* Returns the number of ranks of GOAL_COMM_WORLD. */
int GOAL_GroupSize(void);

/* Returns the number of this process in GOAL_COMM_WORLD, from 0 on. */
int GOAL_MyRank(void);

/*
 * Leaves the group and frees all graphs, schedules and communicators. Returns when all ranks have
 * called it. Returns GOAL_ERR_BUSY, with no effect, if a run has not ended. Memory from GOAL_Alloc
 * stays readable.
 */
int GOAL_Finalize(void);

/*
 * Ends the job because this rank can't do its part: the calls of all ranks return an error from now
 * on. The launcher tells of the text, which says why and may be NULL.
 */
int GOAL_Abort(const char *why);

/* Returns 1 if the group is finalized or not initialized yet; else 0. */
int GOAL_IsFinalized(void);

/* What goes beyond chapter 2 of the thesis. */
typedef enum {
  GOAL_EXT_USER_FUNCTIONS = 1,
  GOAL_EXT_COMMUNICATORS = 2,
  GOAL_EXT_COLLECTIVES = 3,
  GOAL_EXT_LOAD = 4,
  GOAL_EXT_DECLARED_BUFFERS = 5,
  GOAL_EXT_START_DEPENDENCIES = 6,
  GOAL_EXT_END_EVENTS = 7,
  GOAL_EXT_SHARED_MEMORY = 8,
  GOAL_EXT_PROGRESS = 9,
  GOAL_EXT_WILDCARDS = 10,
  GOAL_EXT_BLOCKS = 11,
  GOAL_EXT_NEIGHBORS = 12,
  GOAL_EXT_OFFLOAD = 13,
  GOAL_EXT_GROWTH = 14,
  GOAL_EXT_SURVIVAL = 15,
  GOAL_EXT_IDLE = 16,
  GOAL_EXT_LINK = 17
} GOAL_ExtensionId;

/* Returns 1 if this library has an extension; else 0. */
int GOAL_IsExtensionAvailable(GOAL_ExtensionId ext);

/* Who makes progress of schedules between two calls of a rank. */
typedef enum {
  GOAL_PROGRESS_CALLER = 0,
  GOAL_PROGRESS_THREAD = 1,
  GOAL_PROGRESS_NODE = 2
} GOAL_Progress;

/*
 * Returns a GOAL_Progress: nobody, a thread of the rank, or ranks of the host that wait. The last
 * have only a job's own schedule, and none that a program builds or loads: for these it is nobody.
 */
int GOAL_Get_progress(void);

/*
 * Changes who makes progress: GOAL_PROGRESS_CALLER or GOAL_PROGRESS_THREAD. GOAL_PROGRESS_NODE is
 * chosen when a job starts (goal-run --progress node); a change from or to it gives
 * GOAL_ERR_UNSUPPORTED.
 */
int GOAL_Set_progress(GOAL_Progress progress);

/*
 * A function of the program. Calls of the library call it again and again while they wait. It may
 * call other libraries, such as MPI. Of this library it may call GOAL_Abort only; other functions
 * return GOAL_ERR_UNSUPPORTED. It must not leave by longjmp. An exception that leaves it ends the
 * process.
 */
typedef void (*GOAL_Idle)(void);

/*
 * Sets the function that a thread calls while it waits for a run in a call, or removes it (NULL).
 * The first call comes after about a microsecond. If several threads wait, one of them calls it. No
 * lock of the library is held meanwhile. While there is a function, threads that wait do not sleep:
 * they offer their processor to others.
 */
int GOAL_Set_idle(GOAL_Idle idle);

/*
 * PAGE goal_errors - codes and texts of errors
 *
 * A function that returns a number returns a negative code after an error. One that returns a
 * handle or a pointer returns NULL, one that returns a vertex GOAL_INVALID_VERTEX. Wrong arguments
 * and handles have no other effect.
 */

/* Returns a sentence on a code. It lasts as long as the process. */
const char *GOAL_Error_string(int code);

/*
 * Returns the text of this thread's last error: the call, the argument and the reason. It lasts
 * until the thread's next error, which takes its place at this address. It is empty if there was none.
 */
const char *GOAL_Last_error(void);

/* Returns the code of this thread's last error, and 0 if there was none. */
int GOAL_Last_error_code(void);

/*
 * PAGE goal_graph - graphs of messages and dependencies
 *
 * A function that adds an action returns its vertex. Actions run in any order that the dependencies
 * allow. Buffers are used when the schedule runs, and must last until then; arrays of arguments are
 * copied at once. A send and its receive must have the same number of bytes, which may be 0.
 * Messages of a pair with the same tag meet their receives in the order of their starts. There is
 * no rank that stands for none: a rank without a neighbour adds no message.
 *
 * A call that fails adds nothing, so a program that does not look at results compiles a graph
 * without the action.
 */

/* Creates an empty graph of the group. */
GOAL_Graph GOAL_CreateGraph(void);

/* Creates an empty graph whose ranks count in a communicator. */
GOAL_Graph GOAL_CreateGraphOn(GOAL_Comm comm);

/* Frees a graph. Schedules that were compiled from it stay. */
int GOAL_FreeGraph(GOAL_Graph graph);

/* Adds a message of count bytes to rank dest. */
GOAL_Vertex GOAL_Send(GOAL_Graph graph, const void *buf, int count, int dest,
                      int tag GOAL_DEFAULT(0), GOAL_MemType mem GOAL_DEFAULT(GOAL_USERSPACE));

/*
 * Adds the receipt of a message of count bytes from rank source, which may be GOAL_ANY_SOURCE. The
 * tag may be GOAL_ANY_TAG.
 */
GOAL_Vertex GOAL_Recv(GOAL_Graph graph, void *buf, int count, int source, int tag GOAL_DEFAULT(0),
                      GOAL_MemType mem GOAL_DEFAULT(GOAL_USERSPACE));

/* Adds a message of several pieces, one behind the other. Lengths are in bytes. */
GOAL_Vertex GOAL_SendVec(GOAL_Graph graph, void **offsets, int *lengths, int num_elements, int dest,
                         int tag GOAL_DEFAULT(0), GOAL_MemType mem GOAL_DEFAULT(GOAL_USERSPACE));

/* Adds a receipt into several pieces. Only the sum of lengths must be that of the message. */
GOAL_Vertex GOAL_RecvVec(GOAL_Graph graph, void **offsets, int *lengths, int num_elements, int src,
                         int tag GOAL_DEFAULT(0), GOAL_MemType mem GOAL_DEFAULT(GOAL_USERSPACE));

/* Makes target wait for the end of prereq. */
int GOAL_Requires(GOAL_Graph graph, GOAL_Vertex prereq, GOAL_Vertex target);

/* Makes target wait for the start of prereq. */
int GOAL_IRequires(GOAL_Graph graph, GOAL_Vertex prereq, GOAL_Vertex target);

/*
 * Sets the bytes of the scratchpad, temporary memory of each run. Buffers with GOAL_SCRATCHPAD are
 * offsets in it. Its content is not defined at the start of a run.
 */
int GOAL_AllocateScratchpad(GOAL_Graph graph, size_t bytes);

/*
 * Declares memory as a buffer that a run may replace (GOAL_RunOn). Every action that uses bytes of
 * it must stay inside. Returns its number, from 0 on.
 */
int GOAL_Declare(GOAL_Graph graph, void *buf, size_t bytes);

/*
 * PAGE goal_localop - local operations
 *
 * The operations are those of GOAL_Op in goal(3): GOAL_ADD, GOAL_MAX and so on.
 * The operation is applied to elements at the same place of b1 and b2, in this order, and the
 * result goes to bres; GOAL_COPY has no b2. Buffers may be the same or disjoint. The width is in
 * bits: 8, 16, 32 or 64 for GOAL_SINT and GOAL_UINT, 16, 32 or 64 for GOAL_FLOAT. Integers wrap,
 * and a division by zero ends the job.
 *
 * GOAL_UINT of width 1 is a logical value in a byte, false if 0. It has GOAL_AND, GOAL_OR,
 * GOAL_XOR, GOAL_MAX (as GOAL_OR) and GOAL_MIN (as GOAL_AND), whose results are 0 or 1, and
 * GOAL_COPY. GOAL_AND, GOAL_OR and GOAL_XOR of integers work bit by bit, and there are none of
 * floats; the table in the thesis is not readable, and this is what makes sense. GOAL_LAND,
 * GOAL_LOR and GOAL_LXOR give 0 or 1 of any type.
 *
 * GOAL_WTIME stores the time in seconds as a double into bres, and uses no other argument. Any
 * other combination gives GOAL_ERR_OP or GOAL_ERR_DATATYPE.
 */

/* Adds a local operation on num_elements elements. The thesis prints int as its result. */
GOAL_Vertex GOAL_LocalOp(GOAL_Graph graph, const void *b1, const void *b2, void *bres, GOAL_Op op,
                         GOAL_DataType dt, int element_width, int num_elements,
                         GOAL_MemType b1_mem GOAL_DEFAULT(GOAL_USERSPACE),
                         GOAL_MemType b2_mem GOAL_DEFAULT(GOAL_USERSPACE),
                         GOAL_MemType b3_mem GOAL_DEFAULT(GOAL_USERSPACE));

/* Adds a local operation on buffers of several pieces. Lengths are in bytes. */
GOAL_Vertex GOAL_LocalOpVec(GOAL_Graph graph, void **buf1, int *lengths1, int num_elements1,
                            void **buf2, int *lengths2, int num_elements2, void **buf3,
                            int *lengths3, int num_elements3, GOAL_DataType datatype,
                            int datatype_width, GOAL_Op op,
                            GOAL_MemType b1_temp GOAL_DEFAULT(GOAL_USERSPACE),
                            GOAL_MemType b2_temp GOAL_DEFAULT(GOAL_USERSPACE),
                            GOAL_MemType b3_temp GOAL_DEFAULT(GOAL_USERSPACE));

/*
 * PAGE goal_schedule - schedules: compiled, loaded, started
 *
 * A schedule can run any number of times, also several times at once. Until a run has ended, nobody
 * may write what its actions read, or use what they write. All ranks of a communicator start its
 * schedules in the same order; the n-th run of one rank meets the n-th of the others.
 *
 * Texts as "recv number 3 from rank 0, tag 5" number all actions of a rank's schedule together,
 * from 0 on, in the order of the compiled schedule. That may differ from the order in which the
 * program has added them, so rank and tag tell which action it is.
 */

/* Compiles a graph. The graph stays as it is. */
GOAL_Schedule GOAL_Compile(GOAL_Graph graph);

/*
 * Loads this rank's schedule from a file in binary form (goalc build). The file has as many ranks
 * as the communicator. The schedule works on bytes bytes at memory. They are not set to the file's
 * initial values. If memory is NULL, the schedule works on memory of its own. The program does not
 * see that memory. Each run starts there with zeros and the initial values.
 *
 * The file may come from somebody else. It is verified, it uses no other memory, and it calls no
 * registered function but those of GOAL_Allow_func. It is a regular file of at most 4 GiB, and asks
 * for at most 64 GiB of memory of its own and of scratch memory.
 */
GOAL_Schedule GOAL_Load(const char *path, GOAL_Comm comm, void *memory, size_t bytes);

/* Loads this rank's schedule from a file's bytes, which are copied. There is no limit on them. */
GOAL_Schedule GOAL_LoadMemory(const void *nisa, size_t nisa_bytes, GOAL_Comm comm, void *memory,
                              size_t bytes);

/*
 * Returns 1 if the kernels of the job's hosts run the schedule, by themselves from its start to its
 * end; 0 if the processes of its ranks do. The kernels run schedules of programs that "goal-run
 * --offload kernel" or "--offload auto" started on several hosts: collectives that were prepared
 * (GOAL_Allreduce_init and so on) and loaded files. They hand over to the process what they can't
 * do, as functions of the program. In such a job all ranks of a communicator must prepare
 * collectives and load files in the same order, and these functions return when all have called
 * them.
 */
int GOAL_IsOffloaded(GOAL_Schedule sched);

/*
 * Returns the reason why processes run the schedule; an empty text if the kernels do. It lasts until
 * the schedule is freed. NULL if there is no such schedule; the text of GOAL_Last_error stays.
 */
const char *GOAL_Offload_reason(GOAL_Schedule sched);

/*
 * Links a schedule: its later runs need no engine, since all ranks know where each message lies. All
 * ranks of comm call it, each with a schedule that it has compiled or loaded for comm, in the same
 * order as collectives of comm. It returns when all have called it, or at once if nothing
 * of comm is linked. Returns 1 if the schedule is linked now. Returns 0 if it runs as before, which
 * is no error. All ranks get the same result, except for a rank with an error. In that case the
 * others get 0, and GOAL_Link_reason names the error. GOAL_ERR_BUSY if the schedule runs, unless it
 * is linked already or nothing of comm is linked.
 *
 * A schedule can be linked if
 * - comm has 2 to 16 of the first 64 ranks of the job, which runs on one host, and there are boards
 *   for it: GOAL_COMM_WORLD has them, and 15 other communicators at a time
 * - it has at most 65,536 actions: sends, receives and local operations, on contiguous buffers. The
 *   schedules of all ranks have at most 64 MiB, where each counts as much as the longest
 * - it has no GOAL_DIV, no GOAL_WTIME, no GOAL_IRequires and no function of the program
 * - no receive has a wildcard
 * - of two messages from a rank to another with one tag, one send waits for the other one, directly
 *   or not, and so do their receives
 * - each receive gets a message of its size from the linked schedule of another rank
 * - no message has more than 256 KiB
 * - actions of several ranks that wait for each other in a circle fit a block, see below
 * - if it was loaded, it works on memory of the program (not NULL); it may have a scratchpad
 * - no rank was lost since comm was made
 * - it has one block and no send waits for a receive, in a job of "goal-run --progress thread"
 *
 * A schedule runs in blocks if a rank has more than 64 actions, or writes more than 256 KiB. A rank
 * begins a block when its part of the block before has ended. So a later send goes on only in calls
 * of the library, as if it waited for a receive.
 *
 * All ranks start the linked schedules and the collectives of comm in the same order. Sends that
 * wait for a receive go on only in calls of the library.
 */
int GOAL_Link(GOAL_Schedule sched, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/*
 * Returns the reason why the last GOAL_Link of the schedule returned 0; an empty text if it returned
 * 1 or was not called. The text names the rank, and the action if the reason is one action. It lasts
 * until the next GOAL_Link of the schedule, or until it is freed. NULL if there is no such
 * schedule; the text of GOAL_Last_error stays.
 */
const char *GOAL_Link_reason(GOAL_Schedule sched);

/* Returns 1 if the schedule can be run; else 0. A run never invalidates it. */
int GOAL_IsScheduleValid(GOAL_Schedule sched);

/* Does nothing but check the handle: every schedule can run again. */
int GOAL_MakeScheduleReusable(GOAL_Schedule sched);

/* Frees a schedule. Returns GOAL_ERR_BUSY, with no effect, if it runs. */
int GOAL_FreeSchedule(GOAL_Schedule sched);

/* Starts a schedule. Returns a handle of the run, which stays valid and needs not be freed. */
GOAL_Handle GOAL_Run(GOAL_Schedule sched);

/*
 * Starts a schedule on n other buffers in the place of the n declared ones. They stand for the
 * buffers of GOAL_Declare in their order. Those of a collective are its input, unless it is in
 * place, and its output. Buffers of a collective that this rank does not use may be left out. A
 * barrier uses none, and a rank that is not the root of a reduce uses its input only.
 */
GOAL_Handle GOAL_RunOn(GOAL_Schedule sched, void *const *buffers, int n);

/*
 * PAGE goal_end - ends of runs
 *
 * A function that tests makes some progress. One that waits sleeps if there is nothing to do. If
 * every rank waits for what never comes, the job ends with a report, and waits return
 * GOAL_ERR_STUCK. A rank with a thread in no call may still act. The launcher then says after ten
 * seconds who waits for what, and the job goes on (goal-run --stuck, GOAL_STUCK). In arrays,
 * GOAL_HANDLE_NULL stands for nothing.
 */

/* Returns 1 if a run has ended; else 0. Makes progress of all runs, also if it has. */
int GOAL_Test(GOAL_Handle handle);

/* Waits until a run has ended. */
int GOAL_Wait(GOAL_Handle handle);

/* Returns 1 if all runs have ended; else 0. Makes progress of all runs, also if they have. */
int GOAL_Testall(int n, const GOAL_Handle *handles);

/* Waits until all runs have ended. */
int GOAL_Waitall(int n, const GOAL_Handle *handles);

/*
 * Returns 1 if one of the runs has ended, stores its place in index, and puts GOAL_HANDLE_NULL
 * there; else returns 0. If all are GOAL_HANDLE_NULL, returns 1 with GOAL_UNDEFINED in index. Makes
 * progress of all runs in each case.
 */
int GOAL_Testany(int n, GOAL_Handle *handles, int *index);

/* Waits until one of the runs has ended, and stores its place as GOAL_Testany does. */
int GOAL_Waitany(int n, GOAL_Handle *handles, int *index);

/*
 * A function that is called at the end of a run. It may call the library, and must not leave by
 * longjmp. An exception that leaves it ends the process.
 */
typedef void (*GOAL_Callback)(GOAL_Handle handle, void *arg);

/*
 * Calls a function once when a run has ended: at once if it has, else in the call of the library,
 * by any thread, that notices the end. With GOAL_PROGRESS_THREAD the rank's thread notices it too.
 */
int GOAL_On_end(GOAL_Handle handle, GOAL_Callback callback, void *arg);

/*
 * Returns a new descriptor that becomes readable when the run has ended, or can't go on: for poll
 * and epoll. The caller closes it. While no thread waits in a call of the library, a thread of the
 * library looks at the run at least once a millisecond. A process that waits in poll counts as one
 * that computes, so the job is not found stuck.
 */
int GOAL_Eventfd(GOAL_Handle handle);

/*
 * PAGE goal_comm - communicators
 *
 * A communicator is a list of ranks, numbered anew, with messages of its own.
 */

/*
 * Makes a communicator of n ranks of parent. Each of these ranks calls it with the same list; if
 * several lists are the same, in the same order. No message is sent.
 */
GOAL_Comm GOAL_Comm_create(GOAL_Comm parent, const int *ranks, int n);

/*
 * Makes a communicator of all ranks of parent with a graph, for collectives of neighbours: this rank
 * gets data from the sources and sends data to the destinations. All ranks of parent call it, each
 * with its own lists. A list may name a rank several times, and the rank itself: the first edge from
 * a rank to another one in the destinations is the first one in the sources, and so on. No message
 * is sent, so lists of two ranks that do not fit are not noticed before a collective waits for ever.
 */
GOAL_Comm GOAL_Comm_create_graph(GOAL_Comm parent, const int *sources, int indegree,
                                 const int *destinations, int outdegree);

/* Returns the number of sources of this rank in the communicator's graph. */
int GOAL_Comm_indegree(GOAL_Comm comm);

/* Returns the number of destinations of this rank in the communicator's graph. */
int GOAL_Comm_outdegree(GOAL_Comm comm);

/* Returns this process's rank in the communicator. */
int GOAL_Comm_rank(GOAL_Comm comm);

/* Returns the number of ranks of the communicator. */
int GOAL_Comm_size(GOAL_Comm comm);

/*
 * Frees a communicator. Schedules and graphs on it stay, and its number is free when they are too.
 */
int GOAL_Comm_free(GOAL_Comm comm);

/*
 * PAGE goal_loss - going on after the loss of a rank
 *
 * The loss of a rank, whose process was killed or exited before GOAL_Finalize, ends the job. In a job
 * that goal-run --survive has started, the other ranks go on: every run that has not ended ends with
 * GOAL_ERR_RANK_LOST, in all communicators, and so does every start, until all ranks that are left
 * have called GOAL_Comm_shrink. GOAL_Last_error names the rank that was lost. Some ranks may have
 * ended a run with success that others lost, so after GOAL_Comm_shrink the ranks agree on where they
 * go on, for example by a GOAL_Allreduce of the number of the last step that each has finished.
 *
 *     int status = GOAL_Allreduce(in, out, n, GOAL_FLOAT64, GOAL_ADD, comm);
 *     if (status == GOAL_ERR_RANK_LOST) {
 *       comm = GOAL_Comm_shrink(comm);
 *       ...
 *     }
 */

/*
 * Makes a communicator of the ranks of comm that are left after a loss, in their order. All ranks of
 * the job that are left call this, each with a communicator of its choice, or GOAL_Finalize; it
 * returns when all have. Afterwards the memory of runs that were lost is free, and communicators
 * without a lost rank can be used again. GOAL_ERR_ARG if no rank was lost since the last time.
 */
GOAL_Comm GOAL_Comm_shrink(GOAL_Comm comm);

/*
 * Stores the ranks of comm that were lost, at most n of them, ascending, and returns their number,
 * which may be larger. ranks may be NULL if n is 0.
 */
int GOAL_Comm_lost(GOAL_Comm comm, int *ranks, int n);

/*
 * PAGE goal_growth - groups that grow and shrink
 *
 * A job of programs that goal-run starts on one host can grow and shrink while it runs. It has room
 * for 64 more ranks than it starts with, or fewer if these could allocate more than 16 GiB. goal-run
 * --grow-to sets another number. Schedules that run go on meanwhile, and messages cost the same as
 * in a job that never grows. Elsewhere these functions give GOAL_ERR_UNSUPPORTED.
 *
 * GOAL_COMM_WORLD and GOAL_GroupSize stay what they are. The functions that let a group grow return
 * a larger communicator; in the new processes GOAL_Init returns when they belong to it, and there it
 * is GOAL_COMM_WORLD. So a program that uses GOAL_COMM_WORLD alone can be a new rank.
 *
 * A new rank that dies ends the job as any other, once it has been accepted.
 */

/*
 * Starts n processes and returns a communicator of the ranks of comm followed by the new ones, as
 * MPI_Comm_spawn does with MPI_Intercomm_merge. All ranks of comm call it; command, argv and n count
 * at the root. A command of NULL stands for this program with its own arguments, and argv is NULL
 * then. Else argv has the arguments without the program's name, and ends with NULL; NULL stands for
 * none. A command with a slash counts from the root's folder, another one is looked up in the PATH
 * of goal-run. GOAL_ERR_LIMIT says that there is no room (goal-run --grow-to). All ranks of comm get
 * the same error, but that of a rank which has 2^28 communicators is its own.
 */
GOAL_Comm GOAL_Spawn(const char *command, char *const *argv, int n, int root, GOAL_Comm comm);

/* Returns the number of ranks that "goal-run grow" has started and that wait to be accepted. */
int GOAL_Joining(void);

/*
 * Accepts the ranks that wait, and returns a communicator of the ranks of comm followed by these.
 * All ranks of comm call it. Its rank 0 decides which ranks are accepted. If none waits, all get
 * GOAL_ERR_ARG.
 */
GOAL_Comm GOAL_Accept(GOAL_Comm comm);

/* Returns 1 if this process was added to the job after its start; else 0. */
int GOAL_Has_joined(void);

/*
 * Ends this rank's part without waiting for the others, instead of GOAL_Finalize. Any rank may call
 * it. Returns GOAL_ERR_BUSY, with no effect, if a run has not ended. The process may then exit with
 * status 0 and the job goes on. On a communicator of others that has this rank, a schedule that was
 * not started before gives GOAL_ERR_RANK, and one that was waits for what never comes: make a
 * communicator without it. Its number is not used again.
 */
int GOAL_Leave(void);

/*
 * PAGE goal_memory - memory that the ranks of a host share
 *
 * Any memory can be a buffer. The other ranks of the host read buffers from GOAL_Alloc in place,
 * which saves a copy or a system call for large messages.
 */

/* Allocates bytes bytes, aligned to 64. Their content is not defined. */
void *GOAL_Alloc(size_t bytes);

/* Frees memory from GOAL_Alloc, which no run may use. NULL is allowed. */
int GOAL_Free(void *memory);

/*
 * PAGE goal_2009 - functions of the 2009 paper
 *
 * GOAL_Send, GOAL_Recv and GOAL_Compile are those of goal_graph(3) and goal_schedule(3).
 */

/* Creates an empty graph: GOAL_CreateGraph. */
GOAL_Graph GOAL_Create(void);

/*
 * A function of the program, which computes buf2 = buf1 f buf2. It must not call the library, nor
 * leave by longjmp. An exception that leaves it ends the process.
 */
typedef void (*GOAL_Function)(void *buf1, size_t s1, void *buf2, size_t s2);

/*
 * Registers a function for all graphs and collectives, and returns its number. The same function
 * has the same number. The graph is only checked, and may be NULL.
 */
int GOAL_Reg_func(GOAL_Graph graph, GOAL_Function func);

/*
 * Lets schedules that are loaded from now on (GOAL_Load, GOAL_LoadMemory) call a registered function
 * by its number. They choose the bytes of both buffers, of any lengths, in their own memory: the
 * function must be ready for that. Without this call a loaded schedule calls no function.
 */
int GOAL_Allow_func(int fid);

/*
 * Adds a call of a function, with s1 and s2 bytes. The fid is a registered one, or GOAL_PREDEFINED
 * of an operation and a type: it computes buf2 = buf1 op buf2.
 */
GOAL_Vertex GOAL_Exec(GOAL_Graph graph, int fid, void *buf1, int s1, void *buf2, int s2,
                      GOAL_MemType mem1 GOAL_DEFAULT(GOAL_USERSPACE),
                      GOAL_MemType mem2 GOAL_DEFAULT(GOAL_USERSPACE));

/* Makes a wait for the end of b: "a requires b". GOAL_Requires has them in the other order. */
int GOAL_Requ(GOAL_Graph graph, GOAL_Vertex a, GOAL_Vertex b);

/* Starts a schedule and waits for its end. */
int GOAL_Sched_run(GOAL_Schedule sched);

/*
 * PAGE goal_collectives - collectives, as in MPI
 *
 * Each collective has three forms. GOAL_X runs it and waits. GOAL_Ix starts it and returns a handle.
 * GOAL_X_init returns a schedule, which GOAL_Run starts on the buffers any number of times. The
 * first two compile a collective once for each combination of arguments other than the buffers.
 *
 * The count is that of one block: of a rank's input or, if the input has a part for each rank, of
 * such a part. An operation has to be associative; one by GOAL_USER_OP need not commute. All ranks
 * of the communicator call its collectives in the same order with the same arguments, buffers
 * aside. GOAL_IN_PLACE may stand for a buffer where MPI allows it.
 *
 * In collectives with lists of counts, each rank's block has a number of elements and a place of its
 * own. Displacements are in elements from the start of the buffer; NULL stands for blocks that lie
 * one behind the other. Gaps between blocks are not touched. Only the root of a Gatherv or a
 * Scatterv needs lists. Lists are copied at once.
 *
 * Collectives of neighbours take a communicator with a graph (GOAL_Comm_create_graph). They have a
 * block, and in lists an entry, for each neighbour in the order of its list, and are never in place.
 * A rank without a neighbour on some side leaves it out of the list.
 *
 * Operations and types are those of GOAL_Op and GOAL_Type in goal(3), as GOAL_ADD and GOAL_FLOAT64.
 * The input and the output must not overlap, from the first byte that is used to the last: the ends
 * of one array are exchanged by a graph (goal_graph(3)), which may use any bytes.
 */

/* No rank ends before every rank has started. */
int GOAL_Barrier(GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Barrier. */
GOAL_Handle GOAL_Ibarrier(GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Barrier. */
GOAL_Schedule GOAL_Barrier_init(GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Every rank ends with the root's elements. */
int GOAL_Bcast(void *buf, int64_t count, GOAL_Type datatype, int root,
               GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Bcast. */
GOAL_Handle GOAL_Ibcast(void *buf, int64_t count, GOAL_Type datatype, int root,
                        GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Bcast. */
GOAL_Schedule GOAL_Bcast_init(void *buf, int64_t count, GOAL_Type datatype, int root,
                              GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* The root ends with the combination of all inputs. */
int GOAL_Reduce(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype, GOAL_Op op,
                int root, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Reduce. */
GOAL_Handle GOAL_Ireduce(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                         GOAL_Op op, int root, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Reduce. */
GOAL_Schedule GOAL_Reduce_init(const void *sendbuf, void *recvbuf, int64_t count,
                               GOAL_Type datatype, GOAL_Op op, int root,
                               GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Every rank ends with the combination of all inputs. */
int GOAL_Allreduce(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                   GOAL_Op op, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts an Allreduce. */
GOAL_Handle GOAL_Iallreduce(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                            GOAL_Op op, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares an Allreduce. */
GOAL_Schedule GOAL_Allreduce_init(const void *sendbuf, void *recvbuf, int64_t count,
                                  GOAL_Type datatype, GOAL_Op op,
                                  GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* The root ends with the inputs of all ranks, in their order. */
int GOAL_Gather(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype, int root,
                GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Gather. */
GOAL_Handle GOAL_Igather(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                         int root, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Gather. */
GOAL_Schedule GOAL_Gather_init(const void *sendbuf, void *recvbuf, int64_t count,
                               GOAL_Type datatype, int root,
                               GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Every rank ends with the inputs of all ranks, in their order. */
int GOAL_Allgather(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                   GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts an Allgather. */
GOAL_Handle GOAL_Iallgather(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                            GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares an Allgather. */
GOAL_Schedule GOAL_Allgather_init(const void *sendbuf, void *recvbuf, int64_t count,
                                  GOAL_Type datatype,
                                  GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Every rank ends with its block of the root's input. */
int GOAL_Scatter(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype, int root,
                 GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Scatter. */
GOAL_Handle GOAL_Iscatter(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                          int root, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Scatter. */
GOAL_Schedule GOAL_Scatter_init(const void *sendbuf, void *recvbuf, int64_t count,
                                GOAL_Type datatype, int root,
                                GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Block r of every rank's input ends at rank r. */
int GOAL_Alltoall(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                  GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts an Alltoall. */
GOAL_Handle GOAL_Ialltoall(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                           GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares an Alltoall. */
GOAL_Schedule GOAL_Alltoall_init(const void *sendbuf, void *recvbuf, int64_t count,
                                 GOAL_Type datatype, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Block r of the combination of all inputs ends at rank r. */
int GOAL_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int64_t count,
                              GOAL_Type datatype, GOAL_Op op,
                              GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Reduce_scatter_block. */
GOAL_Handle GOAL_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int64_t count,
                                       GOAL_Type datatype, GOAL_Op op,
                                       GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Reduce_scatter_block. */
GOAL_Schedule GOAL_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int64_t count,
                                             GOAL_Type datatype, GOAL_Op op,
                                             GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Rank r ends with the combination of the inputs of ranks 0 to r. */
int GOAL_Scan(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype, GOAL_Op op,
              GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Scan. */
GOAL_Handle GOAL_Iscan(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                       GOAL_Op op, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Scan. */
GOAL_Schedule GOAL_Scan_init(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                             GOAL_Op op, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Rank r ends with the combination of the inputs of the ranks before it. */
int GOAL_Exscan(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype, GOAL_Op op,
                GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts an Exscan. */
GOAL_Handle GOAL_Iexscan(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                         GOAL_Op op, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares an Exscan. */
GOAL_Schedule GOAL_Exscan_init(const void *sendbuf, void *recvbuf, int64_t count,
                               GOAL_Type datatype, GOAL_Op op,
                               GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* The root ends with the inputs of all ranks, each at its displacement. */
int GOAL_Gatherv(const void *sendbuf, int64_t sendcount, void *recvbuf, const int64_t *recvcounts,
                 const int64_t *displs, GOAL_Type datatype, int root,
                 GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Gatherv. */
GOAL_Handle GOAL_Igatherv(const void *sendbuf, int64_t sendcount, void *recvbuf,
                          const int64_t *recvcounts, const int64_t *displs, GOAL_Type datatype,
                          int root, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Gatherv. */
GOAL_Schedule GOAL_Gatherv_init(const void *sendbuf, int64_t sendcount, void *recvbuf,
                                const int64_t *recvcounts, const int64_t *displs,
                                GOAL_Type datatype, int root,
                                GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Every rank ends with its block of the root's input, which lies at its displacement. */
int GOAL_Scatterv(const void *sendbuf, const int64_t *sendcounts, const int64_t *displs,
                  void *recvbuf, int64_t recvcount, GOAL_Type datatype, int root,
                  GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Scatterv. */
GOAL_Handle GOAL_Iscatterv(const void *sendbuf, const int64_t *sendcounts, const int64_t *displs,
                           void *recvbuf, int64_t recvcount, GOAL_Type datatype, int root,
                           GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Scatterv. */
GOAL_Schedule GOAL_Scatterv_init(const void *sendbuf, const int64_t *sendcounts,
                                 const int64_t *displs, void *recvbuf, int64_t recvcount,
                                 GOAL_Type datatype, int root,
                                 GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Every rank ends with the inputs of all ranks, each at its displacement. */
int GOAL_Allgatherv(const void *sendbuf, int64_t sendcount, void *recvbuf,
                    const int64_t *recvcounts, const int64_t *displs, GOAL_Type datatype,
                    GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts an Allgatherv. */
GOAL_Handle GOAL_Iallgatherv(const void *sendbuf, int64_t sendcount, void *recvbuf,
                             const int64_t *recvcounts, const int64_t *displs, GOAL_Type datatype,
                             GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares an Allgatherv. */
GOAL_Schedule GOAL_Allgatherv_init(const void *sendbuf, int64_t sendcount, void *recvbuf,
                                   const int64_t *recvcounts, const int64_t *displs,
                                   GOAL_Type datatype,
                                   GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/*
 * The block for rank r of every rank's input ends at rank r. In place, sendcounts and sdispls count
 * for nothing.
 */
int GOAL_Alltoallv(const void *sendbuf, const int64_t *sendcounts, const int64_t *sdispls,
                   void *recvbuf, const int64_t *recvcounts, const int64_t *rdispls,
                   GOAL_Type datatype, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts an Alltoallv. */
GOAL_Handle GOAL_Ialltoallv(const void *sendbuf, const int64_t *sendcounts, const int64_t *sdispls,
                            void *recvbuf, const int64_t *recvcounts, const int64_t *rdispls,
                            GOAL_Type datatype, GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares an Alltoallv. */
GOAL_Schedule GOAL_Alltoallv_init(const void *sendbuf, const int64_t *sendcounts,
                                  const int64_t *sdispls, void *recvbuf, const int64_t *recvcounts,
                                  const int64_t *rdispls, GOAL_Type datatype,
                                  GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Block r of the combination of all inputs, of recvcounts[r] elements, ends at rank r. */
int GOAL_Reduce_scatter(const void *sendbuf, void *recvbuf, const int64_t *recvcounts,
                        GOAL_Type datatype, GOAL_Op op,
                        GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Starts a Reduce_scatter. */
GOAL_Handle GOAL_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int64_t *recvcounts,
                                 GOAL_Type datatype, GOAL_Op op,
                                 GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Prepares a Reduce_scatter. */
GOAL_Schedule GOAL_Reduce_scatter_init(const void *sendbuf, void *recvbuf,
                                       const int64_t *recvcounts, GOAL_Type datatype, GOAL_Op op,
                                       GOAL_Comm comm GOAL_DEFAULT(GOAL_COMM_WORLD));

/* Every rank ends with the inputs of its sources, in their order. */
int GOAL_Neighbor_allgather(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                            GOAL_Comm comm);

/* Starts a Neighbor_allgather. */
GOAL_Handle GOAL_Ineighbor_allgather(const void *sendbuf, void *recvbuf, int64_t count,
                                     GOAL_Type datatype, GOAL_Comm comm);

/* Prepares a Neighbor_allgather. */
GOAL_Schedule GOAL_Neighbor_allgather_init(const void *sendbuf, void *recvbuf, int64_t count,
                                           GOAL_Type datatype, GOAL_Comm comm);

/* Every rank ends with the inputs of its sources, each at its displacement. */
int GOAL_Neighbor_allgatherv(const void *sendbuf, int64_t sendcount, void *recvbuf,
                             const int64_t *recvcounts, const int64_t *displs, GOAL_Type datatype,
                             GOAL_Comm comm);

/* Starts a Neighbor_allgatherv. */
GOAL_Handle GOAL_Ineighbor_allgatherv(const void *sendbuf, int64_t sendcount, void *recvbuf,
                                      const int64_t *recvcounts, const int64_t *displs,
                                      GOAL_Type datatype, GOAL_Comm comm);

/* Prepares a Neighbor_allgatherv. */
GOAL_Schedule GOAL_Neighbor_allgatherv_init(const void *sendbuf, int64_t sendcount, void *recvbuf,
                                            const int64_t *recvcounts, const int64_t *displs,
                                            GOAL_Type datatype, GOAL_Comm comm);

/*
 * Block i of a rank's input ends at its destination i, which has blocks in the order of its
 * sources.
 */
int GOAL_Neighbor_alltoall(const void *sendbuf, void *recvbuf, int64_t count, GOAL_Type datatype,
                           GOAL_Comm comm);

/* Starts a Neighbor_alltoall. */
GOAL_Handle GOAL_Ineighbor_alltoall(const void *sendbuf, void *recvbuf, int64_t count,
                                    GOAL_Type datatype, GOAL_Comm comm);

/* Prepares a Neighbor_alltoall. */
GOAL_Schedule GOAL_Neighbor_alltoall_init(const void *sendbuf, void *recvbuf, int64_t count,
                                          GOAL_Type datatype, GOAL_Comm comm);

/* Block i of a rank's input ends at its destination i, at the displacement of its source. */
int GOAL_Neighbor_alltoallv(const void *sendbuf, const int64_t *sendcounts, const int64_t *sdispls,
                            void *recvbuf, const int64_t *recvcounts, const int64_t *rdispls,
                            GOAL_Type datatype, GOAL_Comm comm);

/* Starts a Neighbor_alltoallv. */
GOAL_Handle GOAL_Ineighbor_alltoallv(const void *sendbuf, const int64_t *sendcounts,
                                     const int64_t *sdispls, void *recvbuf,
                                     const int64_t *recvcounts, const int64_t *rdispls,
                                     GOAL_Type datatype, GOAL_Comm comm);

/* Prepares a Neighbor_alltoallv. */
GOAL_Schedule GOAL_Neighbor_alltoallv_init(const void *sendbuf, const int64_t *sendcounts,
                                           const int64_t *sdispls, void *recvbuf,
                                           const int64_t *recvcounts, const int64_t *rdispls,
                                           GOAL_Type datatype, GOAL_Comm comm);

#ifdef __cplusplus
} /* extern "C" */

/*
 * The thesis leaves out the tag in front of the memory type, and names offsets in the scratchpad by
 * plain numbers (2.2.4 and 2.2.5). These overloads take such calls as they are meant.
 */
inline GOAL_Vertex GOAL_Send(GOAL_Graph graph, const void *buf, int count, int dest,
                             GOAL_MemType mem) {
  return GOAL_Send(graph, buf, count, dest, 0, mem);
}
inline GOAL_Vertex GOAL_Recv(GOAL_Graph graph, void *buf, int count, int source,
                             GOAL_MemType mem) {
  return GOAL_Recv(graph, buf, count, source, 0, mem);
}
inline GOAL_Vertex GOAL_Send(GOAL_Graph graph, int offset, int count, int dest, GOAL_MemType mem) {
  return GOAL_Send(graph, GOAL_OFFSET(offset), count, dest, 0, mem);
}
inline GOAL_Vertex GOAL_Recv(GOAL_Graph graph, int offset, int count, int source,
                             GOAL_MemType mem) {
  return GOAL_Recv(graph, GOAL_OFFSET(offset), count, source, 0, mem);
}
#endif

#endif /* GOAL_H */
