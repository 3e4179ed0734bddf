/* Each wrong use of tg.h is a status with a message, and leaves everything usable. */
#include "capi/testing/expect.h"
#include "capi/testing/modules.h"

static tg_load_options reference(void) {
  tg_load_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.device = "reference";
  return o;
}

static tg_model open_sum(void) {
  const tg_load_options options = reference();
  tg_model model = {0};
  EXPECT_OK(tg_load_memory(kSum, strlen(kSum), &options, &model));
  return model;
}

static void null_pointers(void) {
  const tg_model model = open_sum();
  tg_model other;
  tg_text text;
  EXPECT_ERROR(tg_load(NULL, NULL, &other), TG_INVALID_ARGUMENT, "no path");
  EXPECT_ERROR(tg_load("x.uop", NULL, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_load_memory(NULL, 3, NULL, &other), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_load_memory(kSum, 3, NULL, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_compile(NULL, NULL, "x.tgx"), TG_INVALID_ARGUMENT, "no path");
  EXPECT_ERROR(tg_compile_memory(kSum, strlen(kSum), NULL, NULL), TG_INVALID_ARGUMENT, "no output");
  EXPECT_ERROR(tg_count(model, TG_INPUT, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_info(model, TG_INPUT, 0, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_count_variables(model, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_variable(model, 0, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_set_variable(model, NULL, 1), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_count_graphs(model, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_graph(model, 0, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_set(model, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_get(model, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_call(model, NULL, NULL, 1, NULL, 0), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_call(model, NULL, NULL, 0, NULL, 1), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_report(model, TG_REPORT_JSON, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_opt(NULL, 0, NULL, &text), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_opt(kSum, strlen(kSum), NULL, NULL), TG_INVALID_ARGUMENT, "null");
  EXPECT_ERROR(tg_devices(NULL), TG_INVALID_ARGUMENT, "null");
  const tg_tensor nameless = tensor_of(NULL, TG_F32, 0, NULL, NULL, 0);
  EXPECT_ERROR(tg_set(model, &nameless), TG_INVALID_ARGUMENT, "null");
  const int64_t shape[2] = {2, 3};
  const tg_tensor no_data = tensor_of("x", TG_F32, 2, shape, NULL, 24);
  EXPECT_ERROR(tg_set(model, &no_data), TG_INVALID_ARGUMENT, "null");
  EXPECT_OK(tg_close(model));
}

static void wrong_sizes_and_types(void) {
  const tg_model model = open_sum();
  float x[27] = {0};
  const int64_t shape[2] = {2, 3}, wide[2] = {2, 4}, tall[2] = {9, 3}, negative[2] = {-1, 3};
  const int64_t huge[2] = {INT64_MAX, INT64_MAX};
  const struct {
    tg_tensor tensor;
    const char* message;
  } cases[] = {
      {tensor_of("x", TG_F32, 2, shape, x, 23), "23 bytes"},
      {tensor_of("x", TG_F32, 2, shape, x, 25), "25 bytes"},
      {tensor_of("x", TG_F32, 2, wide, x, 32), "f32[2, 4]"},
      {tensor_of("x", TG_F32, 2, tall, x, 108), "f32[9, 3]"},
      {tensor_of("x", TG_F32, 1, shape, x, 8), "f32[2]"},
      {tensor_of("x", TG_F32, 2, negative, x, 24), "bytes"},
      {tensor_of("x", TG_F32, 2, huge, x, 24), "bytes"},
      {tensor_of("x", TG_F32, 17, NULL, x, 24), "rank"},
      {tensor_of("x", TG_I32, 2, shape, x, 24), "i32[2, 3]"},
      {tensor_of("x", 99, 2, shape, x, 24), "type"},
      {tensor_of("x", 0, 2, shape, x, 24), "type"},
      {tensor_of("x", -5, 2, shape, x, 24), "type"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    EXPECT_ERROR(tg_set(model, &cases[i].tensor), TG_INVALID_ARGUMENT, cases[i].message);
  }
  const tg_tensor good = tensor_of("x", TG_F32, 2, shape, x, 24);
  const tg_tensor unknown = tensor_of("z", TG_F32, 2, shape, x, 24);
  EXPECT_ERROR(tg_set(model, &unknown), TG_NOT_FOUND, "@z");
  EXPECT_OK(tg_set(model, &good));
  EXPECT_OK(tg_run(model, NULL));
  tg_tensor small = tensor_of("y", 0, 0, NULL, x, 11);
  EXPECT_ERROR(tg_get(model, &small), TG_INVALID_ARGUMENT, "has 11");
  EXPECT_STATUS(tg_set_variable(model, "n", 9), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_set_variable(model, "m", 1), TG_NOT_FOUND);
  size_t count = 0;
  EXPECT_STATUS(tg_count(model, 4, &count), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_count(model, -1, &count), TG_INVALID_ARGUMENT);
  tg_tensor_info info;
  info.size = sizeof info;
  EXPECT_STATUS(tg_info(model, TG_INPUT, 1, &info), TG_NOT_FOUND);
  const char* name;
  EXPECT_STATUS(tg_graph(model, 1, &name), TG_NOT_FOUND);
  EXPECT_STATUS(tg_run(model, "other"), TG_NOT_FOUND);
  EXPECT_STATUS(tg_count_kernels(model, NULL, &count), TG_FAILED_PRECONDITION);
  EXPECT_OK(tg_close(model));
}

static void wrong_order(void) {
  const tg_model model = open_sum();
  float y[3];
  tg_tensor out = tensor_of("y", 0, 0, NULL, y, sizeof y);
  tg_text text;
  EXPECT_ERROR(tg_get(model, &out), TG_FAILED_PRECONDITION, "@y");
  EXPECT_ERROR(tg_run(model, NULL), TG_FAILED_PRECONDITION, "input @x");
  EXPECT_STATUS(tg_report(model, TG_REPORT_JSON, &text), TG_FAILED_PRECONDITION);
  EXPECT_OK(tg_close(model));
}

/* Handles that are closed, never opened, or of another kind. */
static void bad_handles(void) {
  const tg_model model = open_sum();
  tg_text text;
  EXPECT_OK(tg_opt(kSum, strlen(kSum), NULL, &text));
  const tg_model text_as_model = {text.id};
  const tg_text model_as_text = {model.id};
  EXPECT_STATUS(tg_run(text_as_model, NULL), TG_BAD_HANDLE);
  EXPECT_STATUS(tg_text_get(model_as_text, NULL, NULL), TG_BAD_HANDLE);
  EXPECT_OK(tg_text_close(text));
  EXPECT_STATUS(tg_text_close(text), TG_BAD_HANDLE);
  EXPECT_STATUS(tg_text_get(text, NULL, NULL), TG_BAD_HANDLE);
  EXPECT_OK(tg_close(model));
  size_t count = 0;
  tg_tensor tensor = tensor_of("y", 0, 0, NULL, NULL, 0);
  tg_kernel_info kernel;
  kernel.size = sizeof kernel;
  tg_tensor_info info;
  info.size = sizeof info;
  tg_variable_info variable;
  variable.size = sizeof variable;
  const char* name;
  const uint64_t ids[] = {
      model.id, 0, 1, UINT64_MAX, model.id + 1, model.id - 1, model.id + ((uint64_t)1 << 32)};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; ++i) {
    const tg_model bad = {ids[i]};
    EXPECT_ERROR(tg_close(bad), TG_BAD_HANDLE, "not open");
    EXPECT_STATUS(tg_run(bad, NULL), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_set(bad, &tensor), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_get(bad, &tensor), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_call(bad, NULL, NULL, 0, NULL, 0), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_count(bad, TG_INPUT, &count), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_info(bad, TG_INPUT, 0, &info), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_count_variables(bad, &count), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_variable(bad, 0, &variable), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_set_variable(bad, "n", 1), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_count_graphs(bad, &count), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_graph(bad, 0, &name), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_count_kernels(bad, NULL, &count), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_kernel(bad, NULL, 0, &kernel), TG_BAD_HANDLE);
    EXPECT_STATUS(tg_report(bad, TG_REPORT_JSON, &text), TG_BAD_HANDLE);
  }
  /* The slot is used again, and the old handle stays closed. */
  const tg_model next = open_sum();
  EXPECT(next.id != model.id);
  EXPECT_STATUS(tg_run(model, NULL), TG_BAD_HANDLE);
  EXPECT_OK(tg_close(next));
}

/* Programs with another version of the header. */
static void sizes_of_structs(void) {
  const tg_model model = open_sum();
  float x[3] = {1, 2, 3};
  const int64_t shape[2] = {1, 3};
  tg_tensor tensor = tensor_of("x", TG_F32, 2, shape, x, sizeof x);
  tensor.size = 0;
  EXPECT_ERROR(tg_set(model, &tensor), TG_INVALID_ARGUMENT, "tg_tensor");
  tensor.size = (size_t)-1;
  EXPECT_ERROR(tg_set(model, &tensor), TG_INVALID_ARGUMENT, "tg_tensor");
  tensor.size = 4;
  EXPECT_ERROR(tg_get(model, &tensor), TG_INVALID_ARGUMENT, "tg_tensor");

  /* Older: it ends after `text`. What follows in the caller's memory stays. */
  struct {
    size_t size;
    const char *name, *text;
    uint64_t after;
  } old_info = {offsetof(tg_tensor_info, type), NULL, NULL, 0x1234567890abcdefu};
  EXPECT_OK(tg_info(model, TG_INPUT, 0, (tg_tensor_info*)&old_info));
  EXPECT(strcmp(old_info.name, "x") == 0 && old_info.after == 0x1234567890abcdefu);
  EXPECT(old_info.size == offsetof(tg_tensor_info, type));

  /* Older: options up to `format`. */
  struct {
    size_t size;
    const char *device, *format;
  } old_options = {sizeof old_options, "reference", "uop"};
  tg_model other;
  EXPECT_OK(tg_load_memory(kSum, strlen(kSum), (const tg_load_options*)&old_options, &other));
  EXPECT_OK(tg_close(other));

  /* Newer: a field that this library does not know may be 0 and nothing else. Two tensors of such
   * a size lie behind each other. */
  struct newer {
    tg_tensor tensor;
    uint64_t fields[16]; /* the last ones: of no header yet */
  } newer[2];
  memset(newer, 0, sizeof newer);
  newer[0].tensor = tensor_of("x", TG_F32, 2, shape, x, sizeof x);
  newer[1].tensor = newer[0].tensor;
  newer[0].tensor.size = newer[1].tensor.size = sizeof(struct newer);
  EXPECT_OK(tg_call(model, NULL, &newer[0].tensor, 2, NULL, 0));
  newer[1].fields[15] = 1;
  EXPECT_ERROR(tg_call(model, NULL, &newer[0].tensor, 2, NULL, 0), TG_INVALID_ARGUMENT, "newer");
  newer[1].fields[15] = 0;
  newer[1].tensor.size = sizeof(tg_tensor);
  EXPECT_STATUS(tg_call(model, NULL, &newer[0].tensor, 2, NULL, 0), TG_INVALID_ARGUMENT);
  EXPECT_OK(tg_close(model));
}

static void bad_inputs(void) {
  tg_load_options options = reference();
  tg_model model;
  EXPECT_ERROR(tg_load("there/is/no.uop", &options, &model), TG_NOT_FOUND, "there/is/no.uop");
  EXPECT_STATUS(tg_load("/", &options, &model), TG_INVALID_ARGUMENT);
  EXPECT_STATUS(tg_load_memory("", 0, &options, &model), TG_INVALID_ARGUMENT);
  options.format = "exe";
  EXPECT_ERROR(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_INVALID_ARGUMENT, "exe");
  for (int i = 0; i < 3; ++i) {
    const char* const formats[] = {"onnx", "gguf", "tgx"};
    options.format = formats[i];
    EXPECT_STATUS(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_INVALID_ARGUMENT);
  }
  options = reference();
  options.device = "no such device";
  EXPECT_STATUS(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_NOT_FOUND);
  options = reference();
  const char* const names[] = {"n"};
  const int64_t values[] = {0};
  options.size_names = names;
  options.num_sizes = 1;
  EXPECT_ERROR(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_INVALID_ARGUMENT, "null");
  options.size_values = values;
  EXPECT_ERROR(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_INVALID_ARGUMENT, "0");
}

/* The message of tg_opt has the line and a caret. */
static void diagnostics(void) {
  const char bad[] = "tg 1\nmodule @m\ngraph @main {\n  %0 = ad %1 : f32\n}\n";
  tg_opt_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.path = "bad.uop";
  tg_text text;
  EXPECT_ERROR(tg_opt(bad, strlen(bad), &options, &text), TG_INVALID_ARGUMENT, "bad.uop:4:");
  EXPECT(strstr(tg_error(), "  %0 = ad %1 : f32\n") != NULL);
  EXPECT(strstr(tg_error(), "^") != NULL);
  options.passes = "kernelise";
  EXPECT_ERROR(tg_opt(kSum, strlen(kSum), &options, &text), TG_INVALID_ARGUMENT, "kernelize");
  options.passes = NULL;
  options.emit = "ptx";
  EXPECT_ERROR(tg_opt(kSum, strlen(kSum), &options, &text), TG_INVALID_ARGUMENT, "ptx");
  /* A call that succeeds leaves no message. */
  options.emit = "uop";
  EXPECT_OK(tg_opt(kSum, strlen(kSum), &options, &text));
  EXPECT(tg_error()[0] == 0);
  EXPECT_OK(tg_text_close(text));
}

int main(void) {
  null_pointers();
  wrong_sizes_and_types();
  wrong_order();
  bad_handles();
  sizes_of_structs();
  bad_inputs();
  diagnostics();
  return report_failures("c_errors_test");
}
