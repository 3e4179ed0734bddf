/* Recognises a digit, then many frames of one as a camera would give them.
 *
 *   digits MODEL.uop DIGIT.npy [FRAMES] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tg/tg.h>
#include <time.h>

#define PIXELS 64
#define CLASSES 10

static void check(tg_status status) {
  if (status == TG_OK) return;
  fprintf(stderr, "digits: %s\n", tg_error());
  exit(1);
}

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

/* The elements of an .npy file of 64 floats: behind 10 bytes and a header. */
static int read_picture(const char* path, float* picture) {
  unsigned char head[10];
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  int ok = fread(head, 1, sizeof head, file) == sizeof head &&
           fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET) == 0 &&
           fread(picture, sizeof *picture, PIXELS, file) == PIXELS;
  fclose(file);
  return ok;
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "usage: digits MODEL DIGIT.npy [FRAMES]\n"), 2;
  const int frames = argc > 3 ? atoi(argv[3]) : 0;

  tg_load_options options = {.size = sizeof options, .device = "cpu"};
  tg_model model;
  check(tg_load(argv[1], &options, &model));

  float picture[PIXELS], logits[CLASSES];
  if (!read_picture(argv[2], picture)) return fprintf(stderr, "digits: no picture\n"), 1;
  tg_tensor in = {.size = sizeof in,
                  .name = "x",
                  .type = TG_F32,
                  .rank = 4,
                  .shape = {1, 1, 8, 8},
                  .data = picture,
                  .bytes = sizeof picture};
  tg_tensor out = {.size = sizeof out, .name = "logits", .data = logits, .bytes = sizeof logits};
  check(tg_call(model, NULL, &in, 1, &out, 1));

  int best = 0;
  for (int i = 1; i < CLASSES; ++i) best = logits[i] > logits[best] ? i : best;
  printf("class %d\n", best);

  double* seconds = malloc(sizeof *seconds * (size_t)(frames + 1));
  for (int i = 0; i < frames; ++i) {
    picture[i % PIXELS] += 1;
    const double start = now();
    check(tg_call(model, NULL, &in, 1, &out, 1));
    seconds[i] = now() - start;
  }
  if (frames > 0) {
    qsort(seconds, (size_t)frames, sizeof *seconds, by_value);
    printf("%d frames: p50 %.1f us, p99 %.1f us\n", frames, 1e6 * seconds[frames / 2],
           1e6 * seconds[frames * 99 / 100]);
  }
  free(seconds);
  check(tg_close(model));
  return 0;
}
