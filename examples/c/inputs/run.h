/* The arguments and the clock of cg.c, is.c and halo.c. The user writes the arguments: another word
   than those, or a number that is not above 0, ends the program with its usage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  char size;        /* The class: S, W or A. */
  int iterations;   /* 0 stands for the class's own number. */
  int prints_time;  /* 1 if the time of an iteration is to be printed. */
} Arguments;

/* Reads the arguments. Ends the program, with its usage, if one is not known. */
static Arguments arguments(int argc, char **argv) {
  Arguments read = {'S', 0, 0};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-t") == 0) {
      read.prints_time = 1;
    } else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) {
      read.iterations = atoi(argv[++i]);
    } else if (strlen(argv[i]) == 1 && strchr("SWA", argv[i][0]) != NULL) {
      read.size = argv[i][0];
    } else {
      fprintf(stderr, "usage: %s [S|W|A] [-n ITERATIONS] [-t]\n", argv[0]);
      exit(2);
    }
  }
  return read;
}

/* Returns memory for number elements, set to zero. Ends the program if there is none. */
static void *zeroed(size_t number, size_t bytes) {
  void *memory = calloc(number + 1, bytes);
  if (memory == NULL) {
    fprintf(stderr, "there is no memory for %.0f bytes\n", (double)number * (double)bytes);
    exit(1);
  }
  return memory;
}

/* Returns the time in seconds. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Prints the time of an iteration if it is asked for. */
static void print_time(const Arguments *of, double seconds, int iterations) {
  if (of->prints_time) {
    printf("time: %.2f us an iteration\n", 1e6 * seconds / iterations);
  }
}
