/* Ten threads that share a model, open others, and use one that another thread closes.
 */
#include <pthread.h>

#include "capi/testing/expect.h"
#include "capi/testing/modules.h"

#define THREADS 10
#define CALLS 50

static tg_model shared_model, closed_model;
static int failed[THREADS];

/* Sums `rows` rows of the thread's own numbers; returns what went wrong. */
static int call(tg_model model, int seed, int64_t rows) {
  float x[24], y[3], expected[3] = {0, 0, 0};
  for (int64_t i = 0; i < rows * 3; ++i) {
    x[i] = (float)(seed * 100 + i);
    expected[i % 3] += x[i];
  }
  const int64_t shape[2] = {rows, 3};
  const tg_tensor in = tensor_of("x", TG_F32, 2, shape, x, (size_t)rows * 3 * sizeof *x);
  tg_tensor out = tensor_of("y", 0, 0, NULL, y, sizeof y);
  const int status = (int)tg_call(model, NULL, &in, 1, &out, 1);
  if (status != TG_OK) return status;
  return memcmp(y, expected, sizeof y) != 0 ? -1 : 0;
}

static tg_load_options options_for(int number) {
  tg_load_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.device = number % 2 == 0 ? "cpu" : "reference";
  return o;
}

static void* work(void* argument) {
  int* const failures_of_thread = (int*)argument;
  const int number = (int)(failures_of_thread - failed);
  for (int i = 0; i < CALLS; ++i) {
    if (call(shared_model, number, 1 + (number + i) % 8) != 0) ++*failures_of_thread;
    /* Messages are those of the thread. */
    char name[32];
    snprintf(name, sizeof name, "g%d", number);
    if (tg_run(shared_model, name) != TG_NOT_FOUND || strstr(tg_error(), name) == NULL) {
      ++*failures_of_thread;
    }
    const int status = call(closed_model, number, 2);
    if (status != 0 && status != TG_BAD_HANDLE) ++*failures_of_thread;
    if (number == 3 && i == CALLS / 2 && tg_close(closed_model) != TG_OK) ++*failures_of_thread;
  }
  for (int i = 0; i < 2; ++i) {
    const tg_load_options options = options_for(number);
    tg_model own;
    if (tg_load_memory(kSum, strlen(kSum), &options, &own) != TG_OK) {
      ++*failures_of_thread;
      continue;
    }
    if (call(own, number, 5) != 0) ++*failures_of_thread;
    if (tg_close(own) != TG_OK) ++*failures_of_thread;
  }
  return NULL;
}

int main(void) {
  const tg_load_options options = options_for(0);
  EXPECT_OK(tg_load_memory(kSum, strlen(kSum), &options, &shared_model));
  EXPECT_OK(tg_load_memory(kSum, strlen(kSum), &options, &closed_model));
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    EXPECT(pthread_create(&threads[i], NULL, work, &failed[i]) == 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(failed[i] == 0);
  }
  EXPECT_STATUS(tg_run(closed_model, NULL), TG_BAD_HANDLE);
  EXPECT_OK(tg_close(shared_model));
  return report_failures("c_threads_test");
}
