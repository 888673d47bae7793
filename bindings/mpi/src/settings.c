/* The settings of the environment: which sizes run as schedules.
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

#define TEXT_MAX 4096
#define BYTES_MAX ((uint64_t)1 << 30)

const char *const goalmpi_names[KINDS] = {"barrier", "bcast",     "reduce",  "allreduce",
                                          "gather",  "allgather", "alltoall"};

/* Blocks of `from` to `to` bytes run as schedules. None do if `to` is below `from`. */
struct range {
  uint64_t from, to;
};

/* The block sizes at which a schedule was faster than the MPI library, on two ranks of a node
 * (docs/mpi.md). */
#define ALL {0, BYTES_MAX}
#define NONE {1, 0}
static struct range ranges[KINDS] = {
#if defined(I_MPI_VERSION)
    [BARRIER] = NONE,
    [BCAST] = {2048, 65536},
    [REDUCE] = NONE,
    [ALLREDUCE] = NONE,
    [GATHER] = NONE,
    [ALLGATHER] = NONE,
    [ALLTOALL] = NONE,
#elif defined(OPEN_MPI)
    [BARRIER] = NONE,
    [BCAST] = {1024, BYTES_MAX},
    [REDUCE] = {1024, BYTES_MAX},
    [ALLREDUCE] = {4096, BYTES_MAX},
    [GATHER] = {1024, BYTES_MAX},
    [ALLGATHER] = {4096, BYTES_MAX},
    [ALLTOALL] = {4096, BYTES_MAX},
#else
    [BARRIER] = ALL,
    [BCAST] = ALL,
    [REDUCE] = ALL,
    [ALLREDUCE] = ALL,
    [GATHER] = ALL,
    [ALLGATHER] = ALL,
    [ALLTOALL] = ALL,
#endif
};

int goalmpi_in_range(enum kind kind, uint64_t bytes) {
  return bytes >= ranges[kind].from && bytes <= ranges[kind].to;
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

/* Reads one entry: NAME=off, NAME=on or NAME=FROM-TO. */
static int read_entry(char *entry) {
  char *value = strchr(entry, '=');
  struct range range = {0, BYTES_MAX};
  int kind;
  if (!value) return 0;
  *value++ = '\0';
  for (kind = 0; kind < KINDS && strcmp(entry, goalmpi_names[kind]) && strcmp(entry, "all"); kind++) {}
  if (kind == KINDS) return 0;
  if (strcmp(value, "off") == 0) {
    range.from = 1, range.to = 0;
  } else if (strcmp(value, "on") != 0) {
    if (!read_bytes(&value, &range.from) || *value++ != '-') return 0;
    if (*value && !read_bytes(&value, &range.to)) return 0;
    if (*value || range.to < range.from) return 0;
  }
  for (int at = 0; at < KINDS; at++)
    if (at == kind || strcmp(entry, "all") == 0) ranges[at] = range;
  return 1;
}

/* Reads entries between commas and white space. Lines that begin with # are left out. */
static int read_ranges(char *text, int tells) {
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
                "libgoal-mpi: GOALMPI_RANGES has '%s': write NAME=off, NAME=on or NAME=FROM-TO in bytes, as "
                "allreduce=8-64K.\n",
                kept);
        return 0;
      }
    }
  }
  return 1;
}

/* Returns 0 if a setting is wrong, or if GOALMPI is 0. Only a rank that tells writes a line on it. */
int goalmpi_settings(int tells) {
  const char *is_on = secure_getenv("GOALMPI"), *given = secure_getenv("GOALMPI_RANGES");
  char text[TEXT_MAX + 1] = "";
  size_t length;
  if (is_on && strcmp(is_on, "0") == 0) return 0;
  if (!given) return 1;
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
  return read_ranges(text, tells);
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
