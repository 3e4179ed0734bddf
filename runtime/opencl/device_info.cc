#include "runtime/opencl/device_info.h"

#include <CL/cl_ext.h>

#include <algorithm>
#include <sstream>

#include "runtime/opencl/cl_check.h"

namespace tg::runtime {
namespace {

// cl_nv_device_attribute_query.
constexpr cl_device_info kNvComputeCapabilityMajor = 0x4000;
constexpr cl_device_info kNvComputeCapabilityMinor = 0x4001;
constexpr cl_device_info kNvWarpSize = 0x4003;

// Some drivers include the terminating zero or append spaces.
std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

// Queries properties of a device and remembers the first required property that failed.
class Query {
 public:
  explicit Query(cl_device_id device) : device_(device) {}

  template <typename T>
  bool Optional(cl_device_info property, T& out) {
    T value{};
    if (clGetDeviceInfo(device_, property, sizeof value, &value, nullptr) != CL_SUCCESS)
      return false;
    out = value;
    return true;
  }

  template <typename T>
  void Required(cl_device_info property, T& out) {
    T value{};
    Note(clGetDeviceInfo(device_, property, sizeof value, &value, nullptr));
    out = value;
  }

  std::string String(cl_device_info property) {
    size_t size = 0;
    Note(clGetDeviceInfo(device_, property, 0, nullptr, &size));
    std::string text(size, '\0');
    Note(clGetDeviceInfo(device_, property, size, text.data(), nullptr));
    return Trimmed(std::move(text));
  }

  bool Bool(cl_device_info property) {
    cl_bool value = CL_FALSE;
    Required(property, value);
    return value != CL_FALSE;
  }

  void Note(cl_int code) {
    if (code_ == CL_SUCCESS) code_ = code;
  }
  cl_int code() const { return code_; }

 private:
  cl_device_id device_;
  cl_int code_ = CL_SUCCESS;
};

std::string PlatformString(cl_platform_id platform, cl_platform_info property, Query& query) {
  size_t size = 0;
  query.Note(clGetPlatformInfo(platform, property, 0, nullptr, &size));
  std::string text(size, '\0');
  query.Note(clGetPlatformInfo(platform, property, size, text.data(), nullptr));
  return Trimmed(std::move(text));
}

DeviceKind KindOf(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return DeviceKind::kGpu;
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return DeviceKind::kAccelerator;
  if (type & CL_DEVICE_TYPE_CPU) return DeviceKind::kCpu;
  return DeviceKind::kOther;
}

void QueryWidths(Query& query, DeviceInfo& info) {
  query.Required(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, info.preferred.i8);
  query.Required(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, info.preferred.i16);
  query.Required(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, info.preferred.i32);
  query.Required(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, info.preferred.i64);
  query.Required(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, info.preferred.f16);
  query.Required(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, info.preferred.f32);
  query.Required(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, info.preferred.f64);
  query.Required(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, info.native.i8);
  query.Required(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, info.native.i16);
  query.Required(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, info.native.i32);
  query.Required(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, info.native.i64);
  query.Required(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, info.native.f16);
  query.Required(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, info.native.f32);
  query.Required(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, info.native.f64);
}

void QueryImages(Query& query, ImageLimits& image) {
  image.supported = query.Bool(CL_DEVICE_IMAGE_SUPPORT);
  if (!image.supported) return;
  query.Required(CL_DEVICE_IMAGE2D_MAX_WIDTH, image.max_width_2d);
  query.Required(CL_DEVICE_IMAGE2D_MAX_HEIGHT, image.max_height_2d);
  query.Optional(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, image.max_buffer_pixels);
  query.Optional(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, image.row_pitch_alignment);
  query.Optional(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, image.base_address_alignment);
}

void QueryNvidia(Query& query, DeviceInfo& info) {
  cl_uint major = 0, minor = 0;
  if (!info.HasExtension("cl_nv_device_attribute_query")) return;
  info.is_nvidia = query.Optional(kNvComputeCapabilityMajor, major) &&
                   query.Optional(kNvComputeCapabilityMinor, minor);
  if (info.is_nvidia) info.compute_capability = static_cast<int>(10 * major + minor);
  query.Optional(kNvWarpSize, info.warp_size);
}

}  // namespace

absl::StatusOr<DeviceInfo> QueryDevice(cl_platform_id platform, cl_device_id device) {
  Query query(device);
  DeviceInfo info;
  info.name = query.String(CL_DEVICE_NAME);
  info.vendor = query.String(CL_DEVICE_VENDOR);
  info.platform = PlatformString(platform, CL_PLATFORM_NAME, query);
  info.platform_version = PlatformString(platform, CL_PLATFORM_VERSION, query);
  info.device_version = query.String(CL_DEVICE_VERSION);
  info.driver_version = query.String(CL_DRIVER_VERSION);
  info.c_version = query.String(CL_DEVICE_OPENCL_C_VERSION);
  cl_device_type type = 0;
  query.Required(CL_DEVICE_TYPE, type);
  info.kind = KindOf(type);

  std::istringstream extensions(query.String(CL_DEVICE_EXTENSIONS));
  for (std::string word; extensions >> word;) info.extensions.push_back(word);
  std::sort(info.extensions.begin(), info.extensions.end());
  info.fp16 = info.HasExtension("cl_khr_fp16");
  cl_device_fp_config fp32 = 0;
  query.Optional(CL_DEVICE_SINGLE_FP_CONFIG, fp32);
  info.exact_divide = fp32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  cl_device_fp_config fp64 = 0;
  query.Optional(CL_DEVICE_DOUBLE_FP_CONFIG, fp64);
  info.fp64 = fp64 != 0 || info.HasExtension("cl_khr_fp64");
  info.subgroups = info.HasExtension("cl_khr_subgroups");
  // Only devices of the embedded profile may lack 64-bit integers.
  info.int64 =
      query.String(CL_DEVICE_PROFILE) == "FULL_PROFILE" || info.HasExtension("cles_khr_int64");

  query.Required(CL_DEVICE_GLOBAL_MEM_SIZE, info.global_memory);
  query.Required(CL_DEVICE_MAX_MEM_ALLOC_SIZE, info.max_allocation);
  query.Required(CL_DEVICE_LOCAL_MEM_SIZE, info.local_memory);
  query.Required(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, info.global_cache);
  cl_device_local_mem_type local_type = 0;
  query.Required(CL_DEVICE_LOCAL_MEM_TYPE, local_type);
  info.local_memory_is_real = local_type == CL_LOCAL;
  query.Required(CL_DEVICE_MAX_WORK_GROUP_SIZE, info.max_work_group_size);
  query.Required(CL_DEVICE_MAX_WORK_ITEM_SIZES, info.max_work_item_sizes);
  query.Required(CL_DEVICE_MAX_COMPUTE_UNITS, info.compute_units);
  query.Optional(CL_DEVICE_MAX_CLOCK_FREQUENCY, info.clock_mhz);
  cl_uint alignment_bits = 0;
  query.Required(CL_DEVICE_MEM_BASE_ADDR_ALIGN, alignment_bits);
  info.base_alignment = std::max<size_t>(1, alignment_bits / 8);
  QueryWidths(query, info);
  QueryImages(query, info.image);
  QueryNvidia(query, info);
  info.is_pocl = info.platform == "Portable Computing Language";
  TG_RETURN_IF_ERROR(ClStatus(query.code(), "clGetDeviceInfo", info.name));
  return info;
}

}  // namespace tg::runtime
