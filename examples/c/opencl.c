/* Recognises a digit in a program that uses OpenCL itself: on its context and queue, from its
 * buffer to its buffer.
 *
 *   opencl MODEL.uop */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <tg/tg.h>

int main(int argc, char** argv) {
  cl_platform_id platform;
  cl_device_id device;
  if (argc < 2 || clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return fprintf(stderr, "opencl: no device, or no model is given\n"), 1;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  float picture[64], logits[10];
  for (int i = 0; i < 64; ++i) picture[i] = i % 8 == 3 || i % 8 == 4 ? 16 : 0; /* a one */
  cl_mem x = clCreateBuffer(context, CL_MEM_READ_ONLY, sizeof picture, NULL, NULL);
  cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof logits, NULL, NULL);

  tg_load_options options = {.size = sizeof options, .cl_queue = queue};
  tg_tensor in = {.size = sizeof in, .name = "x", .type = TG_F32, .cl_mem = x};
  tg_tensor out = {.size = sizeof out, .name = "logits", .cl_mem = y};
  const int64_t shape[] = {1, 1, 8, 8};
  for (in.rank = 0; in.rank < 4; ++in.rank) in.shape[in.rank] = shape[in.rank];
  tg_model model;
  /* The write is enqueued before the call, and so it is done before the kernels run. */
  clEnqueueWriteBuffer(queue, x, CL_FALSE, 0, sizeof picture, picture, 0, NULL, NULL);
  if (tg_load(argv[1], &options, &model) != TG_OK ||
      tg_call(model, NULL, &in, 1, &out, 1) != TG_OK) {
    return fprintf(stderr, "opencl: %s\n", tg_error()), 1;
  }
  clEnqueueReadBuffer(queue, y, CL_TRUE, 0, sizeof logits, logits, 0, NULL, NULL);

  int best = 0;
  for (int i = 1; i < 10; ++i) best = logits[i] > logits[best] ? i : best;
  printf("class %d\n", best);
  tg_close(model);
  clReleaseMemObject(x);
  clReleaseMemObject(y);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
