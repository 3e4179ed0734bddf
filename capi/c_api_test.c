/* What tg.h offers, used rightly, on the CPU and by the interpreter. */
#include "capi/testing/expect.h"
#include "capi/testing/modules.h"

#define DIGITS "testdata/digits/digits.uop"

static tg_load_options on(const char* device) {
  tg_load_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.device = device;
  return o;
}

static void runs_a_symbolic_module(const char* device) {
  const tg_load_options options = on(device);
  tg_model model;
  EXPECT_OK(tg_load_memory(kSum, strlen(kSum), &options, &model));

  size_t count = 0;
  EXPECT_OK(tg_count(model, TG_INPUT, &count));
  EXPECT(count == 1);
  tg_tensor_info info;
  info.size = sizeof info;
  EXPECT_OK(tg_info(model, TG_INPUT, 0, &info));
  EXPECT(strcmp(info.name, "x") == 0);
  EXPECT(strcmp(info.text, "f32[@n, 3]") == 0);
  EXPECT(info.type == TG_F32 && info.role == TG_INPUT && info.rank == 2);
  EXPECT(info.min_shape[0] == 1 && info.max_shape[0] == 8);
  EXPECT(info.min_shape[1] == 3 && info.max_shape[1] == 3);
  EXPECT_OK(tg_count_variables(model, &count));
  EXPECT(count == 1);
  tg_variable_info variable;
  variable.size = sizeof variable;
  EXPECT_OK(tg_variable(model, 0, &variable));
  EXPECT(strcmp(variable.name, "n") == 0 && variable.min == 1 && variable.max == 8);
  EXPECT_OK(tg_count_graphs(model, &count));
  EXPECT(count == 1);

  /* Sizes that change from call to call. */
  float x[24];
  for (int i = 0; i < 24; ++i) x[i] = (float)(i * i);
  for (int64_t rows = 1; rows <= 8; ++rows) {
    const int64_t shape[2] = {rows, 3};
    float y[3] = {-1, -1, -1};
    tg_tensor in = tensor_of("x", TG_F32, 2, shape, x, (size_t)rows * 3 * sizeof *x);
    tg_tensor out = tensor_of("y", TG_F32, 0, NULL, y, sizeof y);
    EXPECT_OK(tg_call(model, NULL, &in, 1, &out, 1));
    EXPECT(out.type == TG_F32 && out.rank == 1 && out.shape[0] == 3 && out.bytes == sizeof y);
    for (int c = 0; c < 3; ++c) {
      float sum = 0;
      for (int64_t r = 0; r < rows; ++r) sum += x[r * 3 + c];
      EXPECT(y[c] == sum);
    }
  }
  /* Without memory, an output has its shape and size told. */
  tg_tensor asked = tensor_of("y", 0, 0, NULL, NULL, 0);
  EXPECT_OK(tg_get(model, &asked));
  EXPECT(asked.bytes == 3 * sizeof(float) && asked.shape[0] == 3);
  EXPECT_OK(tg_close(model));
}

#if TG_API_VERSION >= 2
/* Large tensors in the caller's memory, and a struct of version 1, which lacks the field. */
static void lends(const char* device, int borrows) {
  enum { kCount = 1 << 14 };
  char text[512];
  snprintf(
      text, sizeof text,
      "tg 1\nmodule @add\nbuffer @x : f32[%d] input\nbuffer @y : f32[%d] output\n"
      "graph @main {\n  %%x = buffer @x : f32\n  %%0 = add %%x, %%x : f32\n  sink %%0 -> @y\n}\n",
      kCount, kCount);
  const tg_load_options options = on(device);
  tg_model model;
  EXPECT_OK(tg_load_memory(text, strlen(text), &options, &model));
  float* x = (float*)malloc(kCount * sizeof(float));
  float* y = (float*)malloc(kCount * sizeof(float));
  const int64_t shape[1] = {kCount};
  for (int old = 0; old < 2; ++old) {
    for (int lend = 0; lend < 2; ++lend) {
      for (int i = 0; i < kCount; ++i) x[i] = (float)(i + old);
      memset(y, 0, kCount * sizeof(float));
      tg_tensor in = tensor_of("x", TG_F32, 1, shape, x, kCount * sizeof(float));
      tg_tensor out = tensor_of("y", TG_F32, 0, NULL, y, kCount * sizeof(float));
      in.lend = out.lend = lend;
      if (old) in.size = out.size = offsetof(tg_tensor, lend);
      EXPECT_OK(tg_call(model, NULL, &in, 1, &out, 1));
      for (int i = 0; i < kCount; ++i) EXPECT(y[i] == 2 * x[i]);
      /* What was used where it is, is nowhere else. */
      const tg_status lost = lend && !old && borrows ? TG_FAILED_PRECONDITION : TG_OK;
      EXPECT_STATUS(tg_get(model, &out), lost);
      EXPECT_STATUS(tg_run(model, NULL), lost);
      /* tg_set copies. */
      in.lend = 1;
      EXPECT_OK(tg_set(model, &in));
      for (int i = 0; i < kCount; ++i) x[i] = -1;
      EXPECT_OK(tg_run(model, NULL));
      EXPECT_OK(tg_get(model, &out));
      for (int i = 0; i < kCount; ++i) EXPECT(y[i] == 2 * (float)(i + old));
    }
  }
  free(x);
  free(y);
  EXPECT_OK(tg_close(model));
}

#endif

static void keeps_states(const char* device) {
  const tg_load_options options = on(device);
  tg_model model;
  EXPECT_OK(tg_load_memory(kState, strlen(kState), &options, &model));
  const int64_t shape[2] = {2, 3};
  float x[6] = {1, 2, 3, 4, 5, 6}, s[6];
  const tg_tensor in = tensor_of("x", TG_F32, 2, shape, x, sizeof x);
  tg_tensor state = tensor_of("s", TG_F32, 0, NULL, s, sizeof s);
  EXPECT_OK(tg_set(model, &in));
  for (int i = 0; i < 3; ++i) EXPECT_OK(tg_run(model, "main"));
  EXPECT_OK(tg_get(model, &state));
  for (int i = 0; i < 6; ++i) EXPECT(s[i] == 3 * x[i]);
  EXPECT_OK(tg_run(model, "set"));
  EXPECT_OK(tg_get(model, &state));
  for (int i = 0; i < 6; ++i) EXPECT(s[i] == x[i]);
  EXPECT_OK(tg_close(model));
}

static int steps = 0;
static int count_steps(void* context, const char* step, double done) {
  EXPECT(step != NULL && done >= 0 && done <= 1);
  ++*(int*)context;
  return 0;
}
static int cancel(void* context, const char* step, double done) {
  (void)context, (void)done;
  return strcmp(step, "passes") == 0;
}

/* The network of testdata/digits from its file, with times; then compiled to a file. */
static void runs_a_network(void) {
  tg_load_options options = on("cpu");
  options.profile = 1;
  options.progress = count_steps;
  options.progress_context = &steps;
  tg_model model;
  EXPECT_OK(tg_load(DIGITS, &options, &model));
  EXPECT(steps >= 4);
  float picture[64], logits[10], again[10];
  for (int i = 0; i < 64; ++i) picture[i] = (float)(i % 17);
  const int64_t shape[4] = {1, 1, 8, 8};
  tg_tensor in = tensor_of("x", TG_F32, 4, shape, picture, sizeof picture);
  tg_tensor out = tensor_of("logits", TG_F32, 0, NULL, logits, sizeof logits);
  EXPECT_OK(tg_call(model, "main", &in, 1, &out, 1));
  EXPECT(out.rank == 2 && out.shape[0] == 1 && out.shape[1] == 10);

  size_t kernels = 0;
  EXPECT_OK(tg_count_kernels(model, NULL, &kernels));
  EXPECT(kernels > 0);
  for (size_t i = 0; i < kernels; ++i) {
    tg_kernel_info kernel;
    kernel.size = sizeof kernel;
    EXPECT_OK(tg_kernel(model, NULL, i, &kernel));
    EXPECT(kernel.name[0] != 0 && kernel.what[0] != 0 && kernel.device[0] != 0);
    EXPECT(strstr(kernel.source, "define") != NULL);
    EXPECT(kernel.seconds > 0 && !kernel.is_copy && kernel.depends_on_input);
  }
  const char* const starts[] = {"kernel", "tg_report", "<html"};
  for (int form = TG_REPORT_TABLE; form <= TG_REPORT_HTML; ++form) {
    tg_text text;
    const char* data;
    size_t size;
    EXPECT_OK(tg_report(model, form, &text));
    EXPECT_OK(tg_text_get(text, &data, &size));
    EXPECT(size == strlen(data) && strstr(data, starts[form]) != NULL);
    EXPECT_OK(tg_text_close(text));
  }
  EXPECT_OK(tg_close(model));

  /* The interpreter gets the same within what rounding does. */
  options = on("reference");
  EXPECT_OK(tg_load(DIGITS, &options, &model));
  out.data = again;
  out.bytes = sizeof again;
  EXPECT_OK(tg_call(model, NULL, &in, 1, &out, 1));
  for (int i = 0; i < 10; ++i) {
    const float difference = logits[i] - again[i];
    EXPECT(difference < 1e-4f && difference > -1e-4f);
  }
  EXPECT_OK(tg_close(model));

  /* Compiled, from the file and from memory. */
  char path[1024];
  snprintf(path, sizeof path, "%s/digits.tgx", getenv("TEST_TMPDIR"));
  options = on("cpu");
  EXPECT_OK(tg_compile(DIGITS, &options, path));
  FILE* file = fopen(path, "rb");
  EXPECT(file != NULL);
  if (file == NULL) return;
  char* bytes = (char*)malloc(1 << 22);
  const size_t size = fread(bytes, 1, 1 << 22, file);
  fclose(file);
  for (int from_memory = 0; from_memory < 2; ++from_memory) {
    EXPECT_OK(from_memory ? tg_load_memory(bytes, size, NULL, &model)
                          : tg_load(path, NULL, &model));
    if (from_memory) free(bytes); /* they were copied */
    memset(again, 0, sizeof again);
    out.bytes = sizeof again;
    EXPECT_OK(tg_call(model, NULL, &in, 1, &out, 1));
    EXPECT(memcmp(logits, again, sizeof again) == 0);
    EXPECT_OK(tg_close(model));
  }

  options.progress = cancel;
  EXPECT_STATUS(tg_load(DIGITS, &options, &model), TG_CANCELLED);
}

/* Calls in other threads: of one model and of another, waited for in the other order. */
static void runs_in_other_threads(void) {
  const tg_load_options options = on("cpu");
  tg_model models[2];
  tg_tensor in[8], out[8];
  tg_task tasks[8];
  float x[8][6], y[8][3];
  const int64_t shape[2] = {2, 3};
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(tg_load_memory(kSum, strlen(kSum), &options, &models[i]));
  }
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 6; ++k) x[i][k] = (float)(10 * i + k);
    in[i] = tensor_of("x", TG_F32, 2, shape, x[i], sizeof x[i]);
    out[i] = tensor_of("y", 0, 0, NULL, y[i], sizeof y[i]);
    EXPECT_OK(
        tg_call_async(models[i % 2], i < 4 ? NULL : "main", &in[i], 1, &out[i], 1, &tasks[i]));
  }
  /* A model that is closed lives until its calls have ended. */
  EXPECT_OK(tg_close(models[1]));
  for (int i = 7; i >= 0; --i) {
    EXPECT_OK(tg_wait(tasks[i]));
    for (int k = 0; k < 3; ++k) EXPECT(y[i][k] == x[i][k] + x[i][k + 3]);
    EXPECT_STATUS(tg_wait(tasks[i]), TG_BAD_HANDLE);
  }
  EXPECT_STATUS(tg_call_async(models[1], NULL, in, 1, out, 1, tasks), TG_BAD_HANDLE);
  EXPECT_STATUS(tg_call_async(models[0], NULL, in, 1, out, 1, NULL), TG_INVALID_ARGUMENT);
  /* What is wrong with a call is known when it has ended. */
  EXPECT_OK(tg_call_async(models[0], "other", in, 1, out, 1, tasks));
  EXPECT_ERROR(tg_wait(tasks[0]), TG_NOT_FOUND, "@other");
  EXPECT_OK(tg_close(models[0]));
}

static void prints_stages(void) {
  tg_opt_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  const struct {
    const char *passes, *emit, *part;
  } cases[] = {{NULL, NULL, "graph @main"},
               {"kernelize", "uop", "kernel @"},
               {"default", "opencl", "__kernel"},
               {"", "c", "static void"},
               {"kernelize,schedule", "llvm", "define"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    options.passes = cases[i].passes;
    options.emit = cases[i].emit;
    tg_text text;
    const char* data = "";
    EXPECT_OK(tg_opt(kSum, strlen(kSum), &options, &text));
    EXPECT_OK(tg_text_get(text, &data, NULL));
    EXPECT(strstr(data, cases[i].part) != NULL);
    EXPECT_OK(tg_text_close(text));
  }
}

int main(void) {
  EXPECT(tg_api_version() >= TG_API_VERSION);
  EXPECT(strlen(tg_version()) > 0);
  EXPECT_OK(tg_set_threads(2));
  tg_text devices;
  EXPECT_OK(tg_devices(&devices));
  EXPECT_OK(tg_text_close(devices));
  EXPECT_ERROR(tg_set_threads(1), TG_FAILED_PRECONDITION, "before");
  runs_a_symbolic_module("reference");
  runs_a_symbolic_module("cpu");
  runs_a_symbolic_module("cpu:1"); /* PoCL */
#if TG_API_VERSION >= 2
  lends("reference", 0);
  lends("cpu", 1);
#endif
  keeps_states("reference");
  keeps_states("cpu");
  runs_a_network();
  runs_in_other_threads();
  prints_stages();
  return report_failures("c_api_test");
}
