// DeviceHandle: memory of the user's on a device.
#ifndef TG_RUNTIME_DEVICE_DEVICE_HANDLE_H_
#define TG_RUNTIME_DEVICE_DEVICE_HANDLE_H_

namespace tg::runtime {

// Of OpenCL, a cl_mem.
struct DeviceHandle {
  void* handle = nullptr;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_DEVICE_HANDLE_H_
