/* The MPI library of the program, compared with the one that the wrappers are built for.
 *
 * Handles and constants differ between MPI libraries, so a call with those of another one crashes or
 * fails. The names and major versions are compared. A library with another name counts as right: it
 * has the interface of the one that its mpi.h names.
 *
 * The program may also be built for another interface of a library with this name, as MPICH's
 * libmpi_abi. So the file that the functions come from must be one that the wrappers are linked with. */
#ifndef VERSION_OF_MPI_H
#define VERSION_OF_MPI_H

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_OF_MPI_TEXT(x) #x
#define VERSION_OF_MPI_NUMBER(x) VERSION_OF_MPI_TEXT(x)
#if defined(I_MPI_VERSION)
#define BUILT_FOR_MPI "Intel(R) MPI Library " I_MPI_VERSION
#elif defined(OPEN_MPI)
#define BUILT_FOR_MPI                                                                      \
  "Open MPI v" VERSION_OF_MPI_NUMBER(OMPI_MAJOR_VERSION) "." VERSION_OF_MPI_NUMBER(OMPI_MINOR_VERSION) \
  "." VERSION_OF_MPI_NUMBER(OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
#define BUILT_FOR_MPI "MPICH Version: " MPICH_VERSION
#else
#define BUILT_FOR_MPI "an MPI library without a name"
#endif

/* Returns the known name that a version begins with, and stores its major number. */
static const char *name_of_mpi(const char *version, long *major) {
  static const char *const names[] = {"Intel(R) MPI Library", "Open MPI v", "MPICH Version:"};
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    size_t length = strlen(names[at]);
    if (strncmp(version, names[at], length)) continue;
    *major = strtol(version + length, NULL, 10);
    return names[at];
  }
  return NULL;
}

/* Returns the strings of a library's dynamic section. */
static const char *strings_of_mpi(const struct link_map *of) {
  for (const ElfW(Dyn) *at = of->l_ld; at->d_tag != DT_NULL; at++)
    if (at->d_tag == DT_STRTAB) return (const char *)at->d_un.d_ptr;
  return NULL;
}

/* Returns 1 if a library's dynamic section has a name under a tag. */
static int has_name_of_mpi(const struct link_map *of, ElfW(Sxword) tag, const char *name) {
  const char *strings = strings_of_mpi(of);
  for (const ElfW(Dyn) *at = of->l_ld; strings && at->d_tag != DT_NULL; at++)
    if (at->d_tag == tag && strcmp(strings + at->d_un.d_val, name) == 0) return 1;
  return 0;
}

/* Returns the name of the library that a function comes from. NULL: it comes from a program. */
static const char *library_of_mpi(void *function) {
  Dl_info info;
  struct link_map *of = NULL;
  const char *strings;
  if (!dladdr1(function, &info, (void **)&of, RTLD_DL_LINKMAP) || !of) return NULL;
  strings = strings_of_mpi(of);
  for (const ElfW(Dyn) *at = of->l_ld; strings && at->d_tag != DT_NULL; at++)
    if (at->d_tag == DT_SONAME) return strings + at->d_un.d_val;
  return NULL;
}

/* Returns 1 if the library of these wrappers is linked with a library. */
static int is_linked_with_mpi(const char *library) {
  Dl_info info;
  struct link_map *own = NULL;
  if (!dladdr1((void *)is_linked_with_mpi, &info, (void **)&own, RTLD_DL_LINKMAP) || !own) return 1;
  return has_name_of_mpi(own, DT_NEEDED, library);
}

/* Returns 1 if the program runs with the MPI library that the wrappers are built for. Else stores a
 * text that names both. May be called before MPI_Init. */
static int is_built_for_mpi(char *text, size_t size) {
  /* The room that MPICH needs. That of another mpi.h may be too small. */
  static char version[8192 + 1];
  int length = 0;
  long major = 0, built = 0;
  const char *name, *own = name_of_mpi(BUILT_FOR_MPI, &built), *library;
  if (PMPI_Get_library_version(version, &length) != MPI_SUCCESS) return 1;
  version[sizeof version - 1] = '\0';
  name = name_of_mpi(version, &major);
  if (name && own && (name != own || major != built)) {
    /* MPICH's version has many lines, and tabs. */
    version[strcspn(version, "\r\n,")] = '\0';
    for (char *at = version; *at; at++)
      if ((unsigned char)*at < ' ') *at = ' ';
    snprintf(text, size, "it is built for %s, and the program runs with %.200s", BUILT_FOR_MPI, version);
    return 0;
  }
  library = library_of_mpi((void *)PMPI_Get_library_version);
  if (library && !is_linked_with_mpi(library)) {
    snprintf(text, size, "it is built for another interface of %s than that of %s", BUILT_FOR_MPI, library);
    return 0;
  }
  return 1;
}

/* Returns 1 if this process is the first of its job, as far as its starter says. */
static int is_first_of_mpi(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    const char *rank = getenv(names[at]);
    if (rank) return strcmp(rank, "0") == 0;
  }
  return 1;
}

#endif
