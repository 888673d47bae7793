/* The settings of the environment: which sizes run as schedules.
 *
 * The default is the table of the MPI library in tables/, which has the syntax of GOALMPI_RANGES. It
 * is part of this library. `goal-run tune --mpi` writes such tables.
 *
 * Threats: the text comes from the user who starts the program. A file of ranges must be text of at
 * most TEXT_MAX bytes, and numbers are bounded. A wrong word turns the library off, and a line says
 * so. A program whose file gives it more rights than its starter has reads no setting
 * (secure_getenv). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "goalmpi.h"
#include <errno.h>
#include <stdio.h>

#define TEXT_MAX 65536
#define RANGES_MAX 8
#define BYTES_MAX ((uint64_t)1 << 30)

const char *const goalmpi_names[KINDS] = {"barrier", "bcast",     "reduce",  "allreduce",
                                          "gather",  "allgather", "alltoall"};

/* The names of the forms of an operation: "bcast", "ibcast" and "bcast_init". The first one alone
 * stands for all forms. */
static const char *const before_name[FORMS] = {[NONBLOCKING] = "i"}, *const behind_name[FORMS] = {[PERSISTENT] = "_init"};

/* Blocks of `from` to `to` bytes. */
struct range {
  uint64_t from, to;
};

/* The blocks that run as schedules. */
struct ranges {
  int count;
  struct range all[RANGES_MAX];
};
static struct ranges ranges[FORMS][KINDS];

/* The table of the MPI library that this is built for. */
#if defined(I_MPI_VERSION)
#define TABLE "intel-mpi"
#elif defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define TABLE "open-mpi-5"
#elif defined(OPEN_MPI)
#define TABLE "open-mpi-4"
#elif defined(MPICH_VERSION)
#define TABLE "mpich"
#else
#define TABLE "other"
#endif
__asm__(".pushsection .rodata\n\t.globl goalmpi_table\n\t.hidden goalmpi_table\ngoalmpi_table:\n\t.incbin \"tables/" TABLE
        "\"\n\t.byte 0\n\t.popsection");
extern const char goalmpi_table[];

int goalmpi_in_range(enum form form, enum kind kind, uint64_t bytes) {
  const struct ranges *of = &ranges[form][kind];
  for (int at = 0; at < of->count; at++)
    if (bytes >= of->all[at].from && bytes <= of->all[at].to) return 1;
  return 0;
}

/* Reads a number of bytes, as 64, 64K or 1M. Returns 0 if there is none. */
static int read_bytes(char **text, uint64_t *bytes) {
  char *end;
  if (**text < '0' || **text > '9') return 0;
  errno = 0;
  *bytes = strtoull(*text, &end, 10);
  if (errno || *bytes > BYTES_MAX) return 0;
  if (*end == 'K') *bytes <<= 10, end++;
  else if (*end == 'M') *bytes <<= 20, end++;
  *text = end;
  return *bytes <= BYTES_MAX;
}

/* Reads FROM-TO, or several between plus signs. The last one may lack TO. */
static int read_list(char *value, struct ranges *of) {
  for (of->count = 0; of->count < RANGES_MAX; value++) {
    struct range *range = &of->all[of->count++];
    range->to = BYTES_MAX;
    if (!read_bytes(&value, &range->from) || *value++ != '-') return 0;
    if (!*value) return 1;
    if (!read_bytes(&value, &range->to) || range->to < range->from) return 0;
    if (!*value) return 1;
    if (*value != '+') return 0;
  }
  return 0;
}

/* Returns 1 if a name stands for an operation in a form. */
static int is_named(const char *name, enum form form, enum kind kind) {
  char own[32];
  if (strcmp(name, "all") == 0 || strcmp(name, goalmpi_names[kind]) == 0) return 1;
  if (form == BLOCKING) return 0;
  snprintf(own, sizeof own, "%s%s%s", before_name[form] ? before_name[form] : "", goalmpi_names[kind],
           behind_name[form] ? behind_name[form] : "");
  return strcmp(name, own) == 0;
}

/* Reads one entry: NAME=off, NAME=on or NAME=FROM-TO. */
static int read_entry(char *entry) {
  char *value = strchr(entry, '=');
  struct ranges of = {1, {{0, BYTES_MAX}}};
  int is_known = 0;
  if (!value) return 0;
  *value++ = '\0';
  if (strcmp(value, "off") == 0) of.count = 0;
  else if (strcmp(value, "on") != 0 && !read_list(value, &of)) return 0;
  for (int form = 0; form < FORMS; form++)
    for (int kind = 0; kind < KINDS; kind++)
      if (is_named(entry, form, kind)) ranges[form][kind] = of, is_known = 1;
  return is_known;
}

/* Reads entries between commas and white space. Lines that begin with # are left out. `from` names the
 * source of the text. */
static int read_ranges(char *text, const char *from, int tells) {
  char *rest = text, *line, *entry, *inner;
  while ((line = strsep(&rest, "\n"))) {
    if (*line == '#') continue;
    for (inner = line; (entry = strsep(&inner, ", \t\r"));) {
      if (!*entry) continue;
      char kept[64];
      snprintf(kept, sizeof kept, "%s", entry);
      if (!read_entry(entry)) {
        if (!tells) return 0;
        fprintf(stderr,
                "libgoal-mpi: %s has '%s': write NAME=off, NAME=on or NAME=FROM-TO in bytes, as "
                "allreduce=8-64K.\n",
                from, kept);
        return 0;
      }
    }
  }
  return 1;
}

/* Returns 0 if a setting is wrong, or if GOALMPI is 0. Only a rank that tells writes a line on it. */
int goalmpi_settings(int tells) {
  const char *is_on = secure_getenv("GOALMPI"), *given = secure_getenv("GOALMPI_RANGES");
  static char text[TEXT_MAX + 1];
  size_t length;
  if (is_on && strcmp(is_on, "0") == 0) return 0;
  snprintf(text, sizeof text, "%s", goalmpi_table);
  if (!read_ranges(text, "the table of " TABLE, tells)) return 0;
  if (!given) return 1;
  memset(text, 0, sizeof text);
  if (*given == '@') {
    FILE *file = fopen(given + 1, "r");
    if (!file) {
      if (!tells) return 0;
      fprintf(stderr, "libgoal-mpi: GOALMPI_RANGES names the file %s: %s.\n", given + 1, strerror(errno));
      return 0;
    }
    errno = 0;
    length = fread(text, 1, sizeof text, file);
    if (ferror(file) || memchr(text, 0, length)) {
      if (tells)
        fprintf(stderr, "libgoal-mpi: GOALMPI_RANGES names the file %s: %s.\n", given + 1,
                errno ? strerror(errno) : "it is no text");
      fclose(file);
      return 0;
    }
    fclose(file);
  } else {
    length = strnlen(given, sizeof text);
    memcpy(text, given, length);
  }
  if (length > TEXT_MAX) {
    if (tells) fprintf(stderr, "libgoal-mpi: GOALMPI_RANGES is longer than %d bytes.\n", TEXT_MAX);
    return 0;
  }
  text[length] = '\0';
  return read_ranges(text, "GOALMPI_RANGES", tells);
}

/* A number of the settings that must be the same on all ranks. It is not 0. */
uint64_t goalmpi_digest(void) {
  uint64_t digest = 14695981039346656037u;
  const unsigned char *bytes = (const unsigned char *)ranges;
  for (size_t at = 0; at < sizeof ranges; at++) digest = (digest ^ bytes[at]) * 1099511628211u;
  return digest ? digest : 1;
}

int goalmpi_reports(void) {
  const char *report = secure_getenv("GOALMPI_REPORT");
  return report && *report && strcmp(report, "0") != 0;
}
