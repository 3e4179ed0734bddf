/* Language models by tg.h: c_lm_test MODEL.gguf. tg-llm's tests say what a reply should be; here it
 * is the same from each function that gives one, and each wrong use is a status. */
#include <pthread.h>

#include "capi/testing/expect.h"

#define MAX_TOKENS 512

static tg_generate_options reply_of(int64_t tokens) {
  tg_generate_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.max_tokens = tokens;
  return o;
}

static char pieces[65536];
static int append_piece(void* context, const char* piece, size_t bytes) {
  ++*(int*)context;
  EXPECT(strlen(piece) == bytes);
  strncat(pieces, piece, sizeof pieces - strlen(pieces) - 1);
  return 0;
}

static tg_lm lm;

/* Calls of the model from its own function, and the end of the reply. */
static int misuse(void* context, const char* piece, size_t bytes) {
  (void)context, (void)piece, (void)bytes;
  tg_text text;
  EXPECT_ERROR(tg_lm_generate(lm, "x", 1, NULL, &text, NULL), TG_FAILED_PRECONDITION, "show");
  EXPECT_STATUS(tg_lm_truncate(lm, 0), TG_FAILED_PRECONDITION);
  return 1;
}

static int cancel_in_thread(void* context, const char* piece, size_t bytes) {
  (void)context, (void)piece, (void)bytes;
  EXPECT_OK(tg_lm_cancel(lm));
  return 0;
}

static const char* get(tg_text text) {
  const char* data = "";
  EXPECT_OK(tg_text_get(text, &data, NULL));
  return data;
}

static void tokens_and_logits(const tg_lm_info* info) {
  const char prompt[] = "Hello, world";
  int32_t tokens[MAX_TOKENS];
  size_t count = MAX_TOKENS, none = 0;
  EXPECT_OK(tg_lm_tokenize(lm, prompt, strlen(prompt), 0, tokens, &count));
  EXPECT(count > 1 && count <= strlen(prompt) + 1);
  EXPECT_ERROR(tg_lm_tokenize(lm, prompt, strlen(prompt), 0, NULL, &none), TG_RESOURCE_EXHAUSTED,
               "tokens");
  EXPECT(none == count);
  tg_text text;
  EXPECT_OK(tg_lm_detokenize(lm, tokens, count, &text));
  EXPECT(strcmp(get(text), prompt) == 0);
  EXPECT_OK(tg_text_close(text));

  /* The likeliest token by the logits is what generate says, with and without chunks. */
  const size_t vocabulary = (size_t)info->vocabulary;
  float* logits = (float*)malloc(2 * vocabulary * sizeof *logits);
  count = MAX_TOKENS;
  EXPECT_OK(tg_lm_tokenize(lm, prompt, strlen(prompt), 1, tokens, &count));
  EXPECT_OK(tg_lm_truncate(lm, 0));
  EXPECT_OK(tg_lm_append(lm, tokens, count, logits, vocabulary));
  EXPECT_OK(tg_lm_truncate(lm, 0));
  for (size_t i = 0; i < count; ++i) {
    EXPECT_OK(tg_lm_append(lm, tokens + i, 1, i + 1 == count ? logits + vocabulary : NULL,
                           i + 1 == count ? vocabulary : 0));
  }
  int32_t best[2] = {0, 0};
  for (size_t i = 0; i < vocabulary; ++i) {
    for (int k = 0; k < 2; ++k) {
      if (logits[vocabulary * k + i] > logits[vocabulary * k + best[k]]) best[k] = (int32_t)i;
    }
  }
  EXPECT(best[0] == best[1]);
  /* What generate says is the likeliest token by the logits, where that is a whole character. */
  int compared = 0;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    tg_text first, expected;
    const tg_generate_options one = reply_of(1);
    count = MAX_TOKENS;
    EXPECT_OK(tg_lm_tokenize(lm, &letter, 1, 1, tokens, &count));
    EXPECT_OK(tg_lm_truncate(lm, 0));
    EXPECT_OK(tg_lm_append(lm, tokens, count, logits, vocabulary));
    best[0] = 0;
    for (size_t i = 0; i < vocabulary; ++i) {
      if (logits[i] > logits[best[0]]) best[0] = (int32_t)i;
    }
    EXPECT_OK(tg_lm_detokenize(lm, best, 1, &expected));
    EXPECT_OK(tg_lm_generate(lm, &letter, 1, &one, &first, NULL));
    if (get(expected)[0] > ' ') {
      EXPECT(strcmp(get(first), get(expected)) == 0);
      ++compared;
    }
    EXPECT_OK(tg_text_close(first));
    EXPECT_OK(tg_text_close(expected));
  }
  EXPECT(compared > 0);

  EXPECT_STATUS(tg_lm_append(lm, tokens, 0, NULL, 0), TG_INVALID_ARGUMENT);
  EXPECT_ERROR(tg_lm_append(lm, tokens, 1, logits, vocabulary - 1), TG_INVALID_ARGUMENT, "logits");
  const int32_t outside[2] = {-1, (int32_t)vocabulary};
  for (int i = 0; i < 2; ++i) {
    EXPECT_ERROR(tg_lm_append(lm, outside + i, 1, NULL, 0), TG_INVALID_ARGUMENT, "vocabulary");
    EXPECT_ERROR(tg_lm_detokenize(lm, outside + i, 1, &text), TG_INVALID_ARGUMENT, "vocabulary");
  }
  free(logits);
}

static void replies(void) {
  const tg_message messages[] = {{sizeof(tg_message), "system", "Be brief."},
                                 {sizeof(tg_message), "user", "Hello"}};
  tg_text text, again;
  tg_reply reply;
  reply.size = sizeof reply;
  tg_generate_options options = reply_of(8);
  int calls = 0;
  options.show = append_piece;
  options.show_context = &calls;
  EXPECT_OK(tg_lm_chat(lm, messages, 2, &options, &text, &reply));
  EXPECT(strcmp(pieces, get(text)) == 0 && calls > 0);
  EXPECT(reply.end == TG_END_MAX_TOKENS && reply.tokens == 8 && reply.prompt_tokens > 0);
  /* A longer conversation computes only what is new, and gives what it gives from the beginning. */
  const int64_t prompt_tokens = reply.prompt_tokens + reply.reused_tokens;
  options.show = NULL;
  EXPECT_OK(tg_lm_chat(lm, messages, 2, &options, &again, &reply));
  EXPECT(reply.reused_tokens == prompt_tokens - 1 && reply.prompt_tokens == 1);
  EXPECT(strcmp(get(again), get(text)) == 0);
  EXPECT_OK(tg_text_close(again));

  /* Up to a stop. */
  char stop[2] = {0, 0};
  const char* whole = get(text);
  for (size_t i = 0; whole[i] != 0; ++i) {
    if (whole[i] > ' ') stop[0] = whole[i];
  }
  EXPECT(stop[0] != 0);
  const char* const stops[] = {stop};
  options.stops = stops;
  options.num_stops = 1;
  EXPECT_OK(tg_lm_chat(lm, messages, 2, &options, &again, &reply));
  EXPECT(reply.end == TG_END_STOP && strstr(get(again), stop) == NULL);
  EXPECT(strncmp(get(again), whole, strlen(get(again))) == 0);
  EXPECT_OK(tg_text_close(again));
  EXPECT_OK(tg_text_close(text));

  options = reply_of(0);
  options.show = misuse;
  EXPECT_OK(tg_lm_chat(lm, messages, 2, &options, &text, &reply));
  EXPECT(reply.end == TG_END_CANCELLED && reply.tokens < 8);
  EXPECT_OK(tg_text_close(text));
  options.show = cancel_in_thread;
  EXPECT_OK(tg_lm_chat(lm, messages, 2, &options, &text, &reply));
  EXPECT(reply.end == TG_END_CANCELLED && reply.tokens < 8);
  EXPECT_OK(tg_text_close(text));
  /* Without a reply there is nothing to cancel. */
  EXPECT_OK(tg_lm_cancel(lm));
  options = reply_of(3);
  EXPECT_OK(tg_lm_chat(lm, messages, 2, &options, &text, &reply));
  EXPECT(reply.tokens == 3);
  EXPECT_OK(tg_text_close(text));
}

static void errors(void) {
  tg_text text;
  tg_lm other;
  tg_generate_options options = reply_of(-1);
  EXPECT_STATUS(tg_lm_generate(lm, "x", 1, &options, &text, NULL), TG_INVALID_ARGUMENT);
  options = reply_of(1);
  options.top_p = 2;
  EXPECT_ERROR(tg_lm_generate(lm, "x", 1, &options, &text, NULL), TG_INVALID_ARGUMENT, "top_p");
  options = reply_of(1);
  options.temperature = 0.0 / (options.top_p + 0.0);
  EXPECT_ERROR(tg_lm_generate(lm, "x", 1, &options, &text, NULL), TG_INVALID_ARGUMENT,
               "temperature");
  EXPECT_STATUS(tg_lm_generate(lm, NULL, 0, NULL, &text, NULL), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_lm_generate(lm, "x", 1, NULL, NULL, NULL), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_lm_chat(lm, NULL, 1, NULL, &text, NULL), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_lm_chat(lm, NULL, 0, NULL, &text, NULL), TG_INVALID_ARGUMENT);
  const tg_message no_role = {sizeof no_role, NULL, "x"};
  EXPECT_STATUS(tg_lm_chat(lm, &no_role, 1, NULL, &text, NULL), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_lm_truncate(lm, -1), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_lm_open("no/such.gguf", NULL, &other), TG_NOT_FOUND);
  EXPECT_STATUS(tg_lm_open(NULL, NULL, &other), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_lm_open("/dev/null", NULL, &other), TG_INVALID_ARGUMENT);
  char* const prompt = (char*)malloc(1 << 20);
  memset(prompt, 'x', 1 << 20);
  EXPECT_STATUS(tg_lm_generate(lm, prompt, 1 << 20, NULL, &text, NULL), TG_RESOURCE_EXHAUSTED);
  free(prompt);
}

#if TG_API_VERSION >= 4
/* A model that is opened for embeddings gives the same one for a text each time, of length 1. Its
 * pooling is the file's, and the mean for a file that says none. */
static void embeddings(const char* path) {
  tg_lm other;
  tg_text text;
  tg_lm_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "cpu";
  options.embeddings = 1;
  EXPECT_OK(tg_lm_open(path, &options, &other));
  tg_lm_info info;
  info.size = sizeof info;
  EXPECT_OK(tg_lm_get_info(other, &info));
  const size_t width = (size_t)info.embedding_width;
  EXPECT(width > 0 && info.pooling == TG_POOLING_DEFAULT);
  float* rows = (float*)calloc(4 * width, sizeof *rows);
  tg_embed_options how;
  memset(&how, 0, sizeof how);
  how.size = sizeof how;
  EXPECT_OK(tg_lm_embed(other, "Hello, world", 12, NULL, rows, width));
  EXPECT_OK(tg_lm_embed(other, "Hello, world", 12, &how, rows + width, width));
  how.pooling = TG_POOLING_MEAN;
  how.raw = 1;
  EXPECT_OK(tg_lm_embed(other, "Hello, world", 12, &how, rows + 2 * width, width));
  how.pooling = TG_POOLING_LAST;
  EXPECT_OK(tg_lm_embed(other, "Hello, world", 12, &how, rows + 3 * width, width));
  double square = 0, raw = 0;
  int differs = 0;
  for (size_t k = 0; k < width; ++k) {
    EXPECT(rows[k] == rows[width + k]);
    square += (double)rows[k] * rows[k];
    raw += (double)rows[2 * width + k] * rows[2 * width + k];
    differs |= rows[2 * width + k] != rows[3 * width + k];
  }
  EXPECT(square > 0.999999 && square < 1.000001);
  EXPECT((raw < 0.999 || raw > 1.001) && differs);

  how.pooling = TG_POOLING_LAST + 1;
  EXPECT_ERROR(tg_lm_embed(other, "x", 1, &how, rows, width), TG_INVALID_ARGUMENT, "pooling");
  EXPECT_ERROR(tg_lm_embed(other, "x", 1, NULL, rows, width - 1), TG_INVALID_ARGUMENT, "floats");
  EXPECT_STATUS(tg_lm_embed(other, NULL, 1, NULL, rows, width), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_lm_embed(other, "x", 1, NULL, NULL, width), TG_INVALID_ARGUMENT);
  EXPECT_ERROR(tg_lm_generate(other, "x", 1, NULL, &text, NULL), TG_FAILED_PRECONDITION,
               "embeddings");
  const int32_t token = 1;
  EXPECT_STATUS(tg_lm_append(other, &token, 1, NULL, 0), TG_FAILED_PRECONDITION);
  EXPECT_STATUS(tg_lm_truncate(other, 0), TG_FAILED_PRECONDITION);
  EXPECT_ERROR(tg_lm_embed(lm, "x", 1, NULL, rows, width), TG_FAILED_PRECONDITION, "not opened");
  EXPECT_OK(tg_lm_close(other));
  EXPECT_STATUS(tg_lm_embed(other, "x", 1, NULL, rows, width), TG_BAD_HANDLE);
  free(rows);
}
#endif

static int failed_in_thread = 0;
static void* work(void* argument) {
  (void)argument;
  const tg_generate_options options = reply_of(4);
  for (int i = 0; i < 5; ++i) {
    tg_text text;
    if (tg_lm_generate(lm, "Hello", 5, &options, &text, NULL) != TG_OK) return &failed_in_thread;
    tg_text_close(text);
  }
  return NULL;
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  tg_lm_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.device = "cpu";
  options.cache_f32 = 1;
  EXPECT_OK(tg_lm_open(argv[1], &options, &lm));
  tg_lm_info info;
  info.size = sizeof info;
  EXPECT_OK(tg_lm_get_info(lm, &info));
  EXPECT(info.context > 0 && info.vocabulary > 0 && info.weight_bytes > 0);
  tokens_and_logits(&info);
  replies();
  errors();
#if TG_API_VERSION >= 4
  embeddings(argv[1]);
#endif
  pthread_t threads[4];
  void* result = NULL;
  for (int i = 0; i < 4; ++i) EXPECT(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT(pthread_join(threads[i], &result) == 0);
    EXPECT(result == NULL);
  }
  const tg_model wrong_kind = {lm.id};
  EXPECT_STATUS(tg_run(wrong_kind, NULL), TG_BAD_HANDLE);
  EXPECT_OK(tg_lm_close(lm));
  EXPECT_STATUS(tg_lm_close(lm), TG_BAD_HANDLE);
  EXPECT_STATUS(tg_lm_cancel(lm), TG_BAD_HANDLE);
  EXPECT_STATUS(tg_lm_get_info(lm, &info), TG_BAD_HANDLE);
  EXPECT_STATUS(tg_lm_truncate(lm, 0), TG_BAD_HANDLE);
  return report_failures("c_lm_test");
}
