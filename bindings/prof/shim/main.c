/* The beginning and the end of the program.
 *
 * A use of MPI lasts from MPI_Init to MPI_Finalize, or from MPI_Session_init to
 * MPI_Session_finalize. Uses may overlap and follow each other. Recording begins with the first one.
 * The rank's block is closed when none is left, and another one follows if MPI is used again.
 *
 * MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the latest first. Libraries let it call
 * them so. The profiler's own attribute is the first one: it ends the use when all others are gone.
 *
 * Threat: a process that the program forks has all this too. Its wrappers do nothing. */
#define _GNU_SOURCE
#include <aside_of_mpi.h>
#include <fortran_of_mpi.h>
#include <version_of_mpi.h>

#include "shim.h"
#include <pthread.h>

volatile int shim_is_on;
size_t shim_words;
__thread int shim_is_inside;
int shim_calls;

int shim_is_multiple;
__thread int shim_is_starting;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
/* Set when messages start in any order, as nothing is recorded any more. */
static int is_order_lost;

/* The seconds after which the start of a message is taken for one that was left. The thread may not
 * call MPI again. */
#define START_MAX_S 5

static const char was_left[] =
    "a call of MPI was left by an exception or longjmp, or its error handler called MPI, so what came after it "
    "may be missing";

void shim_begin_start(void) {
  struct timespec until;
  if (__atomic_load_n(&is_order_lost, __ATOMIC_RELAXED)) return;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += START_MAX_S;
  shim_is_starting = pthread_mutex_timedlock(&order, &until) == 0;
  if (shim_is_starting) return;
  __atomic_store_n(&is_order_lost, 1, __ATOMIC_RELAXED);
  goalprof_fail(was_left);
}

void shim_end_start(void) {
  shim_is_starting = 0;
  pthread_mutex_unlock(&order);
}

void shim_end_left(void) {
  goalprof_fail(was_left);
  shim_end_start();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The uses of MPI that have not ended, and if one was that of MPI_Init. */
static int uses, is_in_world;
/* Set if the recording has begun, and if nothing is recorded in this process for a reason that is told. */
static int has_begun, is_off;
/* The libraries with MPI's Fortran functions whose calls are seen. */
static int fortrans;

/* Returns the number of loaded libraries with MPI's Fortran functions. */
static int count_fortrans(void) {
  struct link_map *of = NULL;
  void *self = dlopen(NULL, RTLD_LAZY);
  int count = 0;
  if (!self) return 0;
  for (dlinfo(self, RTLD_DI_LINKMAP, &of); of; of = of->l_next) count += is_fortran_of_mpi(of->l_name);
  dlclose(self);
  return count;
}

static void see_fortran(void) {
  redirect_fortran();
  fortrans = count_fortrans();
}

/* A program for another MPI library: no argument of its calls may pass the wrappers. */
__attribute__((constructor)) static void load(void) {
  char why[512], line[640];
  if (is_built_for_mpi(why, sizeof why)) {
    see_fortran();
    return;
  }
  is_off = 1;
  step_aside_of_mpi();
  snprintf(line, sizeof line,
           "goal-prof: %s. Nothing is recorded; build libgoalprof.so with the mpicc of the program.\n", why);
  if (is_first_of_mpi()) goalprof_tell(line);
}

static void leave(void) {
  if (shim_is_on) goalprof_abandon();
  shim_is_on = 0;
}

/* The program ends without MPI_Finalize. */
__attribute__((destructor)) static void unload(void) { leave(); }

static void in_child(void) {
  shim_is_on = is_in_world = 0;
  is_off = 1;
  goalprof_forked();
}

/* Begins a use of MPI. The lock is held. */
static void begin_use(int rank, int ranks, int is_multiple) {
  if (is_multiple) shim_is_multiple = 1;
  if (uses++ > 0) return;
  if (has_begun) {
    goalprof_resume();
  } else {
    shim_words = goalprof_begin((uint32_t)rank, (uint32_t)ranks, of_comm(MPI_COMM_WORLD), of_comm(MPI_COMM_SELF),
                                is_multiple);
    has_begun = 1;
    pthread_atfork(NULL, NULL, in_child);
    at_quick_exit(leave);
  }
  shim_is_on = 1;
}

#ifdef HAS_SESSIONS
/* A session of the profiler's own while the program has one: it tells who is in mpi://WORLD. */
static MPI_Session own;
static MPI_Group own_world;
/* MPI_SESSION_NULL is a variable of Open MPI 5: earlier versions could not load the profiler, which would end
 * the program. */
static int has_own;

static int open_own(void) {
  if (has_own) return 1;
  if (PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS) return 0;
  has_own = PMPI_Group_from_session_pset(own, "mpi://WORLD", &own_world) == MPI_SUCCESS;
  if (!has_own) PMPI_Session_finalize(&own);
  return has_own;
}

static void close_own(void) {
  if (!has_own) return;
  has_own = 0;
  PMPI_Group_free(&own_world);
  PMPI_Session_finalize(&own);
}
#else
static void close_own(void) {}
#endif

MPI_Group shim_all(int *is_new) {
  MPI_Group all = MPI_GROUP_EMPTY;
  *is_new = 1;
#ifdef HAS_SESSIONS
  if (!is_in_world) {
    *is_new = 0;
    return own_world;
  }
#endif
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  return all;
}

/* Ends a use of MPI. */
static void end_use(void) {
  pthread_mutex_lock(&lock);
  if (uses > 0 && --uses == 0) {
    if (count_fortrans() > fortrans)
      goalprof_fail("a library with MPI's Fortran functions was loaded after MPI_Init, so its calls are missing; "
                    "link the program with it, or name it in LD_PRELOAD behind libgoalprof.so");
    shim_is_on = 0;
    goalprof_finish();
    close_own();
  }
  pthread_mutex_unlock(&lock);
}

/* A program that another one has spawned is none of its ranks, and the files of both may have the same
 * names. All processes of a world see that alike. */
static int is_spawned(void) {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

/* Says why the processes of a world are not recorded. All of them come here. */
static void refuse(int rank, const char *why) {
  char line[400];
  if (shim_is_on) goalprof_fail(why);
  if (!shim_is_on) is_off = 1;
  snprintf(line, sizeof line, "goal-prof: %s. Nothing is recorded; the program goes on.\n", why);
  if (is_off && rank == 0) goalprof_tell(line);
}

static int end_world(MPI_Comm comm, int key, void *value, void *extra) {
  if (is_in_world && getpid() == (pid_t)(intptr_t)value) {
    shim_end_freed();
    is_in_world = 0;
    end_use();
    /* Whatever the MPI library calls from now on in MPI_Finalize is its own. */
    shim_is_inside = 1;
  }
  return MPI_SUCCESS;
}

static void start(void) {
  int rank, ranks, level = MPI_THREAD_SINGLE, key = MPI_KEYVAL_INVALID;
  uint64_t digests[2];
  if (is_off) return;
  see_fortran();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (is_spawned()) {
    refuse(rank, "this program was spawned by another one of MPI");
    return;
  }
  /* The largest of all numbers and of all complements: they belong together if all are equal. */
  digests[0] = goalprof_digest((uint32_t)rank);
  digests[1] = ~digests[0];
  PMPI_Allreduce(MPI_IN_PLACE, digests, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (digests[0] == 0) {
    is_off = !shim_is_on;
    return;
  }
  if (digests[0] != ~digests[1]) {
    refuse(rank, "the ranks' settings differ or are wrong: set the same GOALPROF_ variables on all ranks");
    return;
  }
  PMPI_Query_thread(&level);
  pthread_mutex_lock(&lock);
  begin_use(rank, ranks, level == MPI_THREAD_MULTIPLE);
  is_in_world = 1;
  pthread_mutex_unlock(&lock);
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_world, &key, NULL) == MPI_SUCCESS)
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)(intptr_t)getpid());
}

int MPI_Init(int *argc, char ***argv) {
  int rc = PMPI_Init(argc, argv);
  if (rc == MPI_SUCCESS && !is_in_world) start();
  return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int rc = PMPI_Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS && !is_in_world) start();
  return rc;
}

/* The computation before a use ends belongs to it. At the last end no thread is in a call. */
static void reach_end(void) {
  int is_left = !begin();
  if (!is_left) end(MPI_SUCCESS);
  if (uses == 1) is_left |= __atomic_load_n(&shim_calls, __ATOMIC_RELAXED) != 0;
  if (shim_is_on && is_left) goalprof_fail(was_left);
}

int MPI_Finalize(void) {
  int rc;
  reach_end();
  rc = PMPI_Finalize();
  if (is_in_world) {
    is_in_world = 0;
    end_use();
  }
  shim_is_inside = 0;
  return rc;
}

#ifdef HAS_SESSIONS
/* The file is made before ranks have compared their settings. They have no communicator yet, and to
 * make one would wait for processes that may never open a session. A rank with wrong settings, or
 * with more rights than its starter, makes no file (goalprof_begin). It is not off: it takes part
 * when communicators are made, where the others would wait for it. */
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
  static const char text[] = "goal-prof: mpi://WORLD is not known. Nothing is recorded; the program goes on.\n";
  int rc = PMPI_Session_init(info, handler, session), rank = 0, ranks = 1;
  if (rc != MPI_SUCCESS || is_off || shim_is_inside) return rc;
  pthread_mutex_lock(&lock);
  if (open_own()) {
    PMPI_Group_rank(own_world, &rank);
    PMPI_Group_size(own_world, &ranks);
    /* Threads may call at the same time, whatever the level of one session is. */
    begin_use(rank, ranks, 1);
  } else if (uses > 0) {
    uses++;
  } else {
    is_off = 1;
    goalprof_tell(text);
  }
  pthread_mutex_unlock(&lock);
  return rc;
}

int MPI_Session_finalize(MPI_Session *session) {
  int rc;
  if (!shim_is_on || shim_is_inside) return PMPI_Session_finalize(session);
  reach_end();
  shim_end_freed();
  rc = PMPI_Session_finalize(session);
  if (rc == MPI_SUCCESS) end_use();
  return rc;
}
#endif

int MPI_Abort(MPI_Comm comm, int code) {
  leave();
  return PMPI_Abort(comm, code);
}

int MPI_Pcontrol(const int level, ...) {
  if (shim_is_on) goalprof_control(level);
  return MPI_SUCCESS;
}
