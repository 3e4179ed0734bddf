/* tg for programs in C and in languages that call C: docs/c.md.
 *
 * Every function but tg_error, tg_version and tg_api_version returns a status. After a status other
 * than TG_OK, tg_error() is what was wrong, and nothing else has changed.
 *
 * Models, language models, tasks and texts are handles: numbers that the library checks. A handle
 * that was closed, was never opened, or is one of another kind gives TG_BAD_HANDLE. All functions
 * may be called from several threads at once. Calls with one model run one after the other; a model
 * that is closed while another thread uses it lives until that call returns.
 *
 * Structs begin with their size, which the caller sets to sizeof: a program that was compiled with
 * an older header works with a newer library. Fields that are zero have their defaults. */
#ifndef TG_CAPI_TESTING_VERSION_1_TG_TG_H_
#define TG_CAPI_TESTING_VERSION_1_TG_TG_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TG_API __attribute__((visibility("default")))
#else
#define TG_API
#endif

/* The version of this header. A library serves programs with its own version and older ones. */
#define TG_API_VERSION 1
#define TG_MAX_RANK 16

typedef enum tg_status {
  TG_OK = 0,
  TG_INVALID_ARGUMENT = 1,    /* an argument, a model or a text is wrong */
  TG_NOT_FOUND = 2,           /* there is no such file, name or device */
  TG_FAILED_PRECONDITION = 3, /* calls in the wrong order: an input was not given, say */
  TG_UNIMPLEMENTED = 4,
  TG_RESOURCE_EXHAUSTED = 5, /* memory, or disk */
  TG_BAD_HANDLE = 6,
  TG_CANCELLED = 7, /* a progress function asked for it */
  TG_INTERNAL = 8   /* a fault of tg or of a driver */
} tg_status;

typedef enum tg_type {
  TG_TYPE_NONE = 0,
  TG_BOOL = 1, /* a byte that is 0 or 1 */
  TG_I8 = 2,
  TG_I16 = 3,
  TG_I32 = 4,
  TG_I64 = 5,
  TG_U8 = 6,
  TG_U16 = 7,
  TG_U32 = 8,
  TG_U64 = 9,
  TG_F16 = 10,
  TG_BF16 = 11,
  TG_F32 = 12,
  TG_F64 = 13,
  TG_F8E4M3 = 14,
  TG_F8E5M2 = 15
} tg_type;

typedef enum tg_role { TG_INPUT = 0, TG_OUTPUT = 1, TG_STATE = 2, TG_PARAM = 3 } tg_role;

typedef struct tg_model {
  uint64_t id;
} tg_model;

typedef struct tg_text {
  uint64_t id;
} tg_text;

typedef struct tg_task {
  uint64_t id;
} tg_task;

/* A tensor in the caller's memory: packed elements, the last axis the fastest. The library reads
 * or writes `data` only during the call. In an array of tensors all have the same `size`. */
typedef struct tg_tensor {
  size_t size;
  const char* name;
  int32_t type; /* tg_type */
  uint32_t rank;
  int64_t shape[TG_MAX_RANK];
  void* data;
  size_t bytes; /* of `data` */
} tg_tensor;

/* Called during a load or compile with what is done, and how much of it (0 to 1). Cancels if it
 * returns something other than 0. */
typedef int (*tg_progress)(void* context, const char* step, double done);

typedef struct tg_load_options {
  size_t size;
  /* "cpu", "gpu", "gpu:1", a part of a device's name, or "reference" (the interpreter). By default
   * a GPU if there is one, else the CPU; for a .tgx file, the device for which it was compiled. */
  const char* device;
  /* "uop", "tinygrad", "onnx", "gguf", "tgx". By default, the first bytes say it. */
  const char* format;
  /* For a model in memory: the file that it comes from, which is in messages, and in whose folder
   * its other files are. */
  const char* path;
  /* ONNX: sizes of open dimensions, by name. */
  const char* const* size_names;
  const int64_t* size_values;
  size_t num_sizes;
  /* ONNX: greatest sizes of dimensions that stay open. By default 1024. */
  const char* const* max_names;
  const int64_t* max_values;
  size_t num_maxes;
  /* ONNX: inputs as they will be given. Their shapes fix open dimensions. Where `data` is not null,
   * the model may be built for these elements: of a shape, an axis. */
  const tg_tensor* inputs;
  size_t num_inputs;
  int32_t profile; /* not 0: kernels are timed, which costs time in each run */
  int32_t float16; /* not 0: weights and intermediate results are stored as halves */
  tg_progress progress;
  void* progress_context;
} tg_load_options;

/* What a model takes or gives. The strings live until the model is closed. */
typedef struct tg_tensor_info {
  size_t size;
  const char* name;
  const char* text; /* type and shape: "f32[@n, 4]" */
  int32_t type;     /* tg_type; TG_TYPE_NONE: of a type that the host does not have */
  int32_t role;     /* tg_role */
  uint32_t rank;
  int32_t has_contents; /* not 0: the model defines its contents */
  int64_t min_shape[TG_MAX_RANK];
  int64_t max_shape[TG_MAX_RANK];
} tg_tensor_info;

typedef struct tg_variable_info {
  size_t size;
  const char* name;
  int64_t min, max;
} tg_variable_info;

/* A kernel that a graph launches. The strings live until the model is closed. */
typedef struct tg_kernel_info {
  size_t size;
  const char* name;
  const char* what;     /* what it computes */
  const char* schedule; /* its axes and directives */
  const char* source;   /* OpenCL C, or LLVM's assembly language for "cpu"; may be empty */
  const char* device;   /* the name of the device */
  double seconds;       /* the least of all runs; negative: it was not timed */
  int32_t is_copy;      /* not 0: a copy between devices */
  int32_t depends_on_input;
} tg_kernel_info;

typedef enum tg_report_form {
  TG_REPORT_TABLE = 0, /* a line for each kernel */
  TG_REPORT_JSON = 1,
  TG_REPORT_HTML = 2
} tg_report_form;

typedef struct tg_opt_options {
  size_t size;
  const char* passes; /* "kernelize,lower:max=8"; "default": all; "" or null: none */
  const char* emit;   /* "uop" (the default), "opencl", "c", "c99", "llvm" */
  const char* format; /* as in tg_load_options: "uop", "tinygrad", "onnx", "gguf" */
  const char* target; /* a preset or a file, for a module that names none: tg-opt --list-targets */
  const char* path;   /* the file that the text comes from, for messages */
} tg_opt_options;

/* ---- The library ------------------------------------------------------------------------------
 */

TG_API uint32_t tg_api_version(void);
TG_API const char* tg_version(void); /* "0.1.0" */

/* What was wrong with the last call of this thread; "" if it succeeded. The text lives until the
 * thread's next call. */
TG_API const char* tg_error(void);

/* The machine's devices, one a line. */
TG_API tg_status tg_devices(tg_text* text);

/* How many threads run kernels on the CPU: 0, the default, is one for each processor that the
 * process may use. TG_FAILED_PRECONDITION once a model has been opened on the CPU. */
TG_API tg_status tg_set_threads(int32_t threads);

/* ---- Texts ------------------------------------------------------------------------------------
 */

/* The bytes, which end with a 0 that `size` does not count. Either pointer may be null. */
TG_API tg_status tg_text_get(tg_text text, const char** data, size_t* size);
TG_API tg_status tg_text_close(tg_text text);

/* ---- Models -----------------------------------------------------------------------------------
 */

/* Reads and compiles a model. `options` may be null. A .gguf file is a language model; as weights
 * of a .uop module, the module names it. */
TG_API tg_status tg_load(const char* path, const tg_load_options* options, tg_model* model);
/* The same for a file's bytes, which are copied. */
TG_API tg_status tg_load_memory(const void* data, size_t bytes, const tg_load_options* options,
                                tg_model* model);
TG_API tg_status tg_close(tg_model model);

/* Compiles a model to a .tgx file, which opens without a compile. */
TG_API tg_status tg_compile(const char* path, const tg_load_options* options, const char* output);
TG_API tg_status tg_compile_memory(const void* data, size_t bytes, const tg_load_options* options,
                                   const char* output);

/* How many inputs, outputs, states or params (tg_role) there are, and what they are. */
TG_API tg_status tg_count(tg_model model, int32_t role, size_t* count);
TG_API tg_status tg_info(tg_model model, int32_t role, size_t index, tg_tensor_info* info);

TG_API tg_status tg_count_variables(tg_model model, size_t* count);
TG_API tg_status tg_variable(tg_model model, size_t index, tg_variable_info* info);
/* Variables that no input's shape decides. */
TG_API tg_status tg_set_variable(tg_model model, const char* name, int64_t value);

TG_API tg_status tg_count_graphs(tg_model model, size_t* count);
TG_API tg_status tg_graph(tg_model model, size_t index, const char** name);

/* Sets the contents of an input, state or param. Inputs keep them from run to run. */
TG_API tg_status tg_set(tg_model model, const tg_tensor* tensor);

/* Runs a graph and waits for its end; null or "": the one that is named main, or the only one. */
TG_API tg_status tg_run(tg_model model, const char* graph);

/* Reads contents: `tensor` has the name, and gets type, rank, shape and bytes. Where `data` is not
 * null, it has `bytes` bytes and gets the elements; TG_INVALID_ARGUMENT if these are more. */
TG_API tg_status tg_get(tg_model model, tg_tensor* tensor);

/* Sets, runs and reads as one call, in which no other thread's comes between. */
TG_API tg_status tg_call(tg_model model, const char* graph, const tg_tensor* inputs,
                         size_t num_inputs, tg_tensor* outputs, size_t num_outputs);

/* As tg_call, in another thread. The arrays and all memory that they point at must stay until
 * tg_wait, which gives the call's status and message, and closes the task. A model runs its calls
 * one after the other, in any order. */
TG_API tg_status tg_call_async(tg_model model, const char* graph, const tg_tensor* inputs,
                               size_t num_inputs, tg_tensor* outputs, size_t num_outputs,
                               tg_task* task);
TG_API tg_status tg_wait(tg_task task);

/* ---- What was compiled ------------------------------------------------------------------------
 */

/* The launches of a graph, in order. */
TG_API tg_status tg_count_kernels(tg_model model, const char* graph, size_t* count);
TG_API tg_status tg_kernel(tg_model model, const char* graph, size_t index, tg_kernel_info* info);

/* A report of the last runs (tg_report_form). Times are in it if the model was loaded with
 * `profile`. TG_FAILED_PRECONDITION before a run. */
TG_API tg_status tg_report(tg_model model, int32_t form, tg_text* text);

/* ---- Passes over text -------------------------------------------------------------------------
 */

/* Reads a module, runs passes and prints it. tg_error() has all errors of the text, each with its
 * line and a caret below the column. */
TG_API tg_status tg_opt(const char* text, size_t bytes, const tg_opt_options* options,
                        tg_text* result);

/* ---- Language models --------------------------------------------------------------------------
 */

/* A text model of a GGUF file on a device, with the text so far (docs/text.md). Calls with one
 * model run one after the other, but for tg_lm_cancel. */
typedef struct tg_lm {
  uint64_t id;
} tg_lm;

typedef struct tg_lm_options {
  size_t size;
  const char* device;
  int64_t context;   /* the most tokens of a text; 0: as the file says */
  int64_t chunk;     /* tokens of a prompt that are computed at a time; 0: as fits the device */
  int32_t cache_f32; /* not 0: keys and values are stored as f32, not as halves */
  tg_progress progress;
  void* progress_context;
} tg_lm_options;

typedef struct tg_lm_info {
  size_t size;
  int64_t context, vocabulary;
  int64_t length;            /* tokens of the text so far */
  int64_t weight_bytes;      /* that a step of one token reads */
  int32_t has_chat_template; /* not 0: tg_lm_chat uses the file's */
} tg_lm_info;

typedef struct tg_message {
  size_t size;
  const char* role; /* "system", "user" or "assistant" */
  const char* content;
} tg_message;

typedef struct tg_generate_options {
  size_t size;
  int64_t max_tokens;    /* 0: until the model ends, or the context is full */
  double temperature;    /* 0: the likeliest token */
  int64_t top_k;         /* 0: 40; negative: all */
  double top_p;          /* 0: 0.95 */
  double min_p;          /* 0: 0.05; negative: 0 */
  double repeat_penalty; /* 0: none */
  int64_t repeat_window; /* 0: 64 tokens */
  uint64_t seed;
  const char* const* stops; /* texts that end the reply, and are no part of it */
  size_t num_stops;
  /* Called with each piece of the reply: whole characters, `bytes` of them. The reply ends if it
   * returns something other than 0. It must not call a function with this model but tg_lm_cancel.
   */
  int (*show)(void* context, const char* piece, size_t bytes);
  void* show_context;
} tg_generate_options;

typedef enum tg_reply_end {
  TG_END_MODEL = 0,
  TG_END_STOP = 1,
  TG_END_MAX_TOKENS = 2,
  TG_END_CONTEXT = 3,
  TG_END_CANCELLED = 4
} tg_reply_end;

typedef struct tg_reply {
  size_t size;
  int32_t end; /* tg_reply_end */
  int64_t prompt_tokens,
      reused_tokens; /* of the prompt: computed, and known from the text so far */
  int64_t tokens;    /* of the reply */
  double prompt_seconds, decode_seconds;
} tg_reply;

TG_API tg_status tg_lm_open(const char* path, const tg_lm_options* options, tg_lm* lm);
TG_API tg_status tg_lm_close(tg_lm lm);
TG_API tg_status tg_lm_get_info(tg_lm lm, tg_lm_info* info);

/* The tokens of a text. `count` has the capacity of `tokens` and gets the number of tokens; if that
 * is more, the status is TG_RESOURCE_EXHAUSTED and nothing is written. With `special`, spellings of
 * control tokens become these, and the vocabulary's first and last tokens are added. */
TG_API tg_status tg_lm_tokenize(tg_lm lm, const char* text, size_t bytes, int32_t special,
                                int32_t* tokens, size_t* count);
/* The text of tokens. */
TG_API tg_status tg_lm_detokenize(tg_lm lm, const int32_t* tokens, size_t count, tg_text* text);

/* Appends tokens to the text, and writes the logits of the next one: as many floats as the
 * vocabulary has tokens. `logits` may be null. */
TG_API tg_status tg_lm_append(tg_lm lm, const int32_t* tokens, size_t count, float* logits,
                              size_t num_logits);
/* Takes back all tokens but the first `length`. */
TG_API tg_status tg_lm_truncate(tg_lm lm, int64_t length);

/* Continues a text, or replies to a conversation. What the prompt has in common with the text so
 * far, from its beginning, is not computed again. `options` and `reply` may be null. */
TG_API tg_status tg_lm_generate(tg_lm lm, const char* prompt, size_t bytes,
                                const tg_generate_options* options, tg_text* text, tg_reply* reply);
TG_API tg_status tg_lm_chat(tg_lm lm, const tg_message* messages, size_t num_messages,
                            const tg_generate_options* options, tg_text* text, tg_reply* reply);
/* Ends the reply that another thread generates, between two tokens; does nothing if there is none.
 */
TG_API tg_status tg_lm_cancel(tg_lm lm);

#ifdef __cplusplus
}
#endif

#endif  // TG_CAPI_TESTING_VERSION_1_TG_TG_H_
