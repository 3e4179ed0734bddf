/* Models on the caller's objects of OpenCL. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "capi/testing/expect.h"
#include "capi/testing/modules.h"

static cl_context context;
static cl_command_queue queue;

static cl_mem buffer(size_t bytes, cl_mem_flags flags) {
  cl_int code = CL_SUCCESS;
  cl_mem mem = clCreateBuffer(context, flags, bytes, NULL, &code);
  EXPECT(code == CL_SUCCESS);
  return mem;
}

static void write_floats(cl_mem mem, const float* values, size_t count) {
  EXPECT(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, count * sizeof *values, values, 0, NULL,
                              NULL) == CL_SUCCESS);
}

static void read_floats(cl_mem mem, float* values, size_t count) {
  EXPECT(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, count * sizeof *values, values, 0, NULL,
                             NULL) == CL_SUCCESS);
}

static tg_tensor in_memory(const char* name, uint32_t rank, const int64_t* shape, cl_mem mem) {
  tg_tensor t = tensor_of(name, TG_F32, rank, shape, NULL, 0);
  t.cl_mem = mem;
  return t;
}

static tg_model load(const tg_load_options* options) {
  tg_model model = {0};
  EXPECT_OK(tg_load_memory(kSum, strlen(kSum), options, &model));
  return model;
}

static void calls(const tg_load_options* options) {
  const tg_model model = load(options);
  const cl_mem x = buffer(24 * sizeof(float), CL_MEM_READ_ONLY);
  const cl_mem y = buffer(3 * sizeof(float), CL_MEM_READ_WRITE);
  float values[24], sums[3];
  for (int rows = 1; rows <= 8; ++rows) {
    const int64_t shape[] = {rows, 3};
    for (int i = 0; i < rows * 3; ++i) values[i] = (float)(i + rows);
    write_floats(x, values, (size_t)rows * 3);
    tg_tensor in = in_memory("x", 2, shape, x), out = in_memory("y", 0, NULL, y);
    EXPECT_OK(tg_call(model, NULL, &in, 1, &out, 1));
    EXPECT(out.rank == 1 && out.shape[0] == 3 && out.bytes == sizeof sums);
    read_floats(y, sums, 3);
    for (int c = 0; c < 3; ++c) {
      float sum = 0;
      for (int r = 0; r < rows; ++r) sum += values[3 * r + c];
      EXPECT(sums[c] == sum);
    }
    /* The contents were the call's. */
    EXPECT_ERROR(tg_run(model, NULL), TG_FAILED_PRECONDITION, "@x");
  }
  /* tg_set and tg_get copy. */
  const int64_t shape[] = {2, 3};
  const float two_rows[] = {1, 2, 3, 10, 20, 30};
  write_floats(x, two_rows, 6);
  tg_tensor in = in_memory("x", 2, shape, x), out = in_memory("y", 0, NULL, y);
  EXPECT_OK(tg_set(model, &in));
  write_floats(x, values, 6);
  EXPECT_OK(tg_run(model, NULL));
  EXPECT_OK(tg_get(model, &out));
  read_floats(y, sums, 3);
  EXPECT(sums[0] == 11 && sums[1] == 22 && sums[2] == 33);
  EXPECT_OK(tg_close(model));
  clReleaseMemObject(x);
  clReleaseMemObject(y);
}

static void wrong_memory(const tg_load_options* options, const char* device) {
  const tg_model model = load(options);
  const int64_t shape[] = {2, 3};
  float values[6] = {0};
  const cl_mem x = buffer(sizeof values, CL_MEM_READ_WRITE);
  const cl_mem small = buffer(4, CL_MEM_READ_WRITE);
  const cl_mem no_result = buffer(sizeof values, CL_MEM_READ_ONLY);
  write_floats(x, values, 6);
  tg_tensor in = in_memory("x", 2, shape, small), out = in_memory("y", 0, NULL, x);
  EXPECT_ERROR(tg_call(model, NULL, &in, 1, &out, 1), TG_INVALID_ARGUMENT, "has 4 bytes, of 24");
  in.cl_mem = x;
  EXPECT_ERROR(tg_call(model, NULL, &in, 1, &out, 1), TG_INVALID_ARGUMENT, "is that of @x");
  out.cl_mem = no_result;
  EXPECT_ERROR(tg_call(model, NULL, &in, 1, &out, 1), TG_INVALID_ARGUMENT, "CL_MEM_READ_ONLY");
  out.cl_mem = small;
  EXPECT_ERROR(tg_call(model, NULL, &in, 1, &out, 1), TG_INVALID_ARGUMENT, "has 4 bytes, of 12");
  in.data = values;
  EXPECT_ERROR(tg_set(model, &in), TG_INVALID_ARGUMENT, "its data is not null");
  EXPECT_OK(tg_close(model));

  /* A model on another context, and one without OpenCL. */
  tg_load_options other = {0};
  other.size = sizeof other;
  other.device = device;
  in.data = NULL;
  const tg_model other_model = load(&other);
  EXPECT_ERROR(tg_set(other_model, &in), TG_INVALID_ARGUMENT, "of another context");
  EXPECT_OK(tg_close(other_model));
  other.device = "reference";
  const tg_model interpreted = load(&other);
  EXPECT_ERROR(tg_set(interpreted, &in), TG_INVALID_ARGUMENT, "no memory of a device");
  EXPECT_OK(tg_close(interpreted));
  clReleaseMemObject(x);
  clReleaseMemObject(small);
  clReleaseMemObject(no_result);
}

static void wrong_objects(cl_device_id device) {
  cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  tg_load_options options = {0};
  tg_model model;
  options.size = sizeof options;
  options.cl_context = other;
  options.cl_queue = queue;
  EXPECT_ERROR(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_INVALID_ARGUMENT,
               "another context");
  options.cl_context = NULL;
  options.profile = 1;
  EXPECT_ERROR(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_INVALID_ARGUMENT,
               "CL_QUEUE_PROFILING_ENABLE");
  options.profile = 0;
  cl_command_queue unordered =
      clCreateCommandQueue(other, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
  if (unordered != NULL) {
    options.cl_queue = unordered;
    EXPECT_ERROR(tg_load_memory(kSum, strlen(kSum), &options, &model), TG_INVALID_ARGUMENT,
                 "in order");
    clReleaseCommandQueue(unordered);
  }
  clReleaseContext(other);
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return fprintf(stderr, "no device of OpenCL\n"), 1;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  tg_load_options options = {0};
  options.size = sizeof options;
  options.cl_queue = queue;
  calls(&options);
  char name[256] = "";
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
  wrong_memory(&options, name);
  wrong_objects(device);
  /* The model keeps references. */
  options.cl_context = context;
  const tg_model model = load(&options);
  cl_uint before = 0;
  EXPECT(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof before, &before, NULL) ==
             CL_SUCCESS &&
         before > 1);
  EXPECT_OK(tg_close(model));
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return report_failures("c_opencl_test");
}
