/* Checks of tests in C: each failure is a line, and main returns how many there were. */
#ifndef TG_CAPI_TESTING_EXPECT_H_
#define TG_CAPI_TESTING_EXPECT_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tg/tg.h>

static int failures = 0;

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++failures;                                                             \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

#define EXPECT_STATUS(call, expected)                                                      \
  do {                                                                                     \
    const int status_ = (int)(call);                                                       \
    if (status_ != (int)(expected)) {                                                      \
      ++failures;                                                                          \
      fprintf(stderr, "%s:%d: %s is %d, not %d: %s\n", __FILE__, __LINE__, #call, status_, \
              (int)(expected), tg_error());                                                \
    }                                                                                      \
  } while (0)

#define EXPECT_OK(call) EXPECT_STATUS(call, TG_OK)

/* The call fails with this status, and its message contains `part`. */
#define EXPECT_ERROR(call, expected, part)                                                         \
  do {                                                                                             \
    EXPECT_STATUS(call, expected);                                                                 \
    if (strstr(tg_error(), part) == NULL) {                                                        \
      ++failures;                                                                                  \
      fprintf(stderr, "%s:%d: the error has no '%s': %s\n", __FILE__, __LINE__, part, tg_error()); \
    }                                                                                              \
  } while (0)

static inline tg_tensor tensor_of(const char* name, int32_t type, uint32_t rank,
                                  const int64_t* shape, void* data, size_t bytes) {
  tg_tensor t;
  memset(&t, 0, sizeof t);
  t.size = sizeof t;
  t.name = name;
  t.type = type;
  t.rank = rank;
  if (rank > 0 && rank <= TG_MAX_RANK) memcpy(t.shape, shape, rank * sizeof *shape);
  t.data = data;
  t.bytes = bytes;
  return t;
}

static int report_failures(const char* name) {
  if (failures == 0) printf("%s: all as expected\n", name);
  return failures != 0;
}

#endif  // TG_CAPI_TESTING_EXPECT_H_
