/* Recognises a digit without a library: the network is code that tg-opt wrote, linked into the
 * program.
 *
 *   tg-opt --emit=c99 digits.uop -o digits.c        writes digits.c, digits.h and digits.weights
 *   cc -O2 linked.c digits.c -lm -o linked
 *   linked digits.weights DIGIT.npy */
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"

#define PIXELS 64
#define CLASSES 10

/* Reads `bytes` bytes from offset `start`. */
static int read_at(const char* path, long start, void* to, size_t bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  const int ok = fseek(file, start, SEEK_SET) == 0 && fread(to, 1, bytes, file) == bytes;
  fclose(file);
  return ok;
}

int main(int argc, char** argv) {
  unsigned char head[10];
  float picture[PIXELS], logits[CLASSES];
  void* weights = aligned_alloc(64, DIGITS_WEIGHTS_BYTES);
  void* scratch = aligned_alloc(64, DIGITS_SCRATCH_BYTES);
  if (argc != 3 || weights == NULL || scratch == NULL ||
      !read_at(argv[1], 0, weights, DIGITS_WEIGHTS_BYTES) ||
      !read_at(argv[2], 0, head, sizeof head) ||
      !read_at(argv[2], 10 + head[8] + 256 * head[9], picture, sizeof picture)) {
    return fprintf(stderr, "usage: linked digits.weights DIGIT.npy\n"), 2;
  }
  if (digits_main(picture, logits, weights, scratch) != 0) return 1;
  int best = 0;
  for (int i = 1; i < CLASSES; ++i) best = logits[i] > logits[best] ? i : best;
  printf("class %d\n", best);
  free(scratch);
  free(weights);
  return 0;
}
