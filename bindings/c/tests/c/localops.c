// Every operation on every type, on elements at places without alignment, as one run each.
// RUN: build %s
// RUN: ./localops
// RUN: ./localops-cpp
// RUN: memcheck ./localops
#include <goal.h>
#include <stdio.h>
#include <string.h>

#define US GOAL_USERSPACE

static int legal, refused, wrong;

/* Runs one operation on two elements of the given bits, and returns the result's bits. */
static int result(GOAL_Op op, GOAL_DataType type, int width, const void *a, const void *b, void *c) {
  unsigned bytes = width == 1 ? 1 : (unsigned)width / 8;
  char memory[3 * 16 + 1];
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Schedule schedule;
  int code;
  char *b1 = memory + 1, *b2 = memory + 17, *b3 = memory + 33;
  memcpy(b1, a, bytes);
  memcpy(b2, b, bytes);
  memset(b3, 0, bytes);
  if (GOAL_LocalOp(graph, b1, b2, b3, op, type, width, 1, US, US, US) == GOAL_INVALID_VERTEX) {
    code = GOAL_Last_error_code();
    GOAL_FreeGraph(graph);
    return code;
  }
  schedule = GOAL_Compile(graph);
  code = GOAL_Sched_run(schedule);
  memcpy(c, b3, bytes);
  GOAL_FreeSchedule(schedule);
  GOAL_FreeGraph(graph);
  return code;
}

#define CHECK(ctype, type, width, op, x, y, want)                    \
  do {                                                               \
    ctype x_ = (ctype)(x), y_ = (ctype)(y), c_ = 0;                  \
    int code_ = result(op, type, width, &x_, &y_, &c_);              \
    if (code_ != 0 || c_ != (ctype)(want)) {                         \
      printf("%s %s %d: code %d\n", #op, #ctype, width, code_);      \
      wrong++;                                                       \
    }                                                                \
    legal++;                                                         \
  } while (0)

#define REFUSE(type, width, op)                                      \
  do {                                                               \
    char x_[8] = {0};                                                \
    int code_ = result(op, type, width, x_, x_, x_);                 \
    if (code_ != GOAL_ERR_OP && code_ != GOAL_ERR_DATATYPE) {        \
      printf("%s %s %d: not refused\n", #op, #type, width);          \
      wrong++;                                                       \
    }                                                                \
    refused++;                                                       \
  } while (0)

#define NUMBERS(ctype, type, width)                                  \
  CHECK(ctype, type, width, GOAL_MAX, 12, 7, 12);                    \
  CHECK(ctype, type, width, GOAL_MIN, 12, 7, 7);                     \
  CHECK(ctype, type, width, GOAL_ADD, 12, 7, 19);                    \
  CHECK(ctype, type, width, GOAL_SUB, 12, 7, 5);                     \
  CHECK(ctype, type, width, GOAL_DIV, 12, 6, 2);                     \
  CHECK(ctype, type, width, GOAL_MUL, 12, 7, 84);                    \
  CHECK(ctype, type, width, GOAL_COPY, 12, 7, 12);                   \
  CHECK(ctype, type, width, GOAL_LAND, 12, 0, 0);                    \
  CHECK(ctype, type, width, GOAL_LOR, 12, 0, 1);                     \
  CHECK(ctype, type, width, GOAL_LXOR, 12, 7, 0)
#define INTEGERS(ctype, type, width)                                 \
  NUMBERS(ctype, type, width);                                       \
  CHECK(ctype, type, width, GOAL_AND, 12, 6, 4);                     \
  CHECK(ctype, type, width, GOAL_OR, 12, 6, 14);                     \
  CHECK(ctype, type, width, GOAL_XOR, 12, 6, 10)

int main(void) {
  double before = 0, after = 0;
  GOAL_Graph graph;
  if (GOAL_Init() != 0) {
    return 1;
  }
  INTEGERS(int8_t, GOAL_SINT, 8);
  INTEGERS(int16_t, GOAL_SINT, 16);
  INTEGERS(int32_t, GOAL_SINT, 32);
  INTEGERS(int64_t, GOAL_SINT, 64);
  INTEGERS(uint8_t, GOAL_UINT, 8);
  INTEGERS(uint16_t, GOAL_UINT, 16);
  INTEGERS(uint32_t, GOAL_UINT, 32);
  INTEGERS(uint64_t, GOAL_UINT, 64);
  NUMBERS(float, GOAL_FLOAT, 32);
  NUMBERS(double, GOAL_FLOAT, 64);
  CHECK(int8_t, GOAL_SINT, 8, GOAL_MIN, -1, 1, -1);
  CHECK(uint8_t, GOAL_UINT, 8, GOAL_MIN, -1, 1, 1);
  CHECK(int8_t, GOAL_SINT, 8, GOAL_ADD, 127, 1, -128);
  /* 1.0 + 2.0 in binary16. */
  CHECK(uint16_t, GOAL_FLOAT, 16, GOAL_ADD, 0x3c00, 0x4000, 0x4200);
  /* Logical values: a byte each. */
  CHECK(uint8_t, GOAL_UINT, 1, GOAL_AND, 4, 2, 1);
  CHECK(uint8_t, GOAL_UINT, 1, GOAL_MIN, 4, 0, 0);
  CHECK(uint8_t, GOAL_UINT, 1, GOAL_OR, 0, 2, 1);
  CHECK(uint8_t, GOAL_UINT, 1, GOAL_MAX, 0, 0, 0);
  CHECK(uint8_t, GOAL_UINT, 1, GOAL_XOR, 4, 2, 0);
  CHECK(uint8_t, GOAL_UINT, 1, GOAL_COPY, 4, 0, 4);

  REFUSE(GOAL_UINT, 1, GOAL_ADD);
  REFUSE(GOAL_UINT, 1, GOAL_SUB);
  REFUSE(GOAL_UINT, 1, GOAL_DIV);
  REFUSE(GOAL_UINT, 1, GOAL_MUL);
  REFUSE(GOAL_SINT, 1, GOAL_AND);
  REFUSE(GOAL_FLOAT, 1, GOAL_COPY);
  REFUSE(GOAL_FLOAT, 8, GOAL_COPY);
  REFUSE(GOAL_FLOAT, 32, GOAL_AND);
  REFUSE(GOAL_FLOAT, 64, GOAL_OR);
  REFUSE(GOAL_FLOAT, 16, GOAL_XOR);
  REFUSE(GOAL_SINT, 24, GOAL_ADD);

  graph = GOAL_CreateGraph();
  GOAL_Requires(graph,
                GOAL_LocalOp(graph, NULL, NULL, &before, GOAL_WTIME, GOAL_FLOAT, 64, 1, US, US, US),
                GOAL_LocalOp(graph, NULL, NULL, &after, GOAL_WTIME, GOAL_SINT, 99, -1, US, US, US));
  if (GOAL_Sched_run(GOAL_Compile(graph)) != 0 || !(after >= before) || after < 0) {
    wrong++;
  }
  printf("%d legal, %d refused, %d wrong\n", legal, refused, wrong);
  return GOAL_Finalize() != 0 || wrong != 0;
}
