#include "runtime/cpu/processor.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/status.h"

namespace tg::cpu {
namespace {

// The first line of /proc/cpuinfo with this key; empty if there is none.
std::string CpuInfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

bool HasAll(const std::string& flags, std::initializer_list<const char*> wanted) {
  const std::string padded = " " + flags + " ";
  return std::all_of(wanted.begin(), wanted.end(), [&](const char* flag) {
    return padded.find(Cat(" ", flag, " ")) != std::string::npos;
  });
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The size of the first processor's data or unified cache of a level, and its ways.
int64_t CacheBytes(int level, int* ways) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = Cat("/sys/devices/system/cpu/cpu0/cache/index", i, "/");
    const std::string type = FirstLine(folder + "type");
    if (type.empty()) return 0;
    if (type == "Instruction" || std::atoi(FirstLine(folder + "level").c_str()) != level) continue;
    if (ways != nullptr) *ways = std::atoi(FirstLine(folder + "ways_of_associativity").c_str());
    const std::string size = FirstLine(folder + "size");
    const int64_t number = std::atoll(size.c_str());
    const char unit = size.empty() ? ' ' : size.back();
    return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : number;
  }
  return 0;
}

// The processors of a control group's quota, from "QUOTA PERIOD" in microseconds; 0 without one.
double Quota(const std::string& line) {
  std::istringstream text(line);
  std::string quota;
  double period = 0;
  if (!(text >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::max(0.0, std::atof(quota.c_str()) / period);
}

// The least quota of the group and of those around it.
double GroupQuota() {
  double least = 0;
  const auto take = [&](double quota) {
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    for (std::string path = line.substr(3); !path.empty(); path = path.substr(0, path.rfind('/'))) {
      take(Quota(FirstLine(Cat("/sys/fs/cgroup", path, "/cpu.max"))));
      if (path.find('/') == std::string::npos) break;
    }
  }
  take(Quota(FirstLine("/sys/fs/cgroup/cpu.max")));
  const std::string v1 = "/sys/fs/cgroup/cpu/cpu.cfs_";
  take(Quota(Cat(FirstLine(v1 + "quota_us"), " ", FirstLine(v1 + "period_us"))));
  return least;
}

Processor Query() {
  Processor p;
  p.name = CpuInfo("model name");
  const std::string flags = CpuInfo("flags");
#if defined(__x86_64__)
  p.is_supported = HasAll(flags, {"avx2", "fma", "f16c", "bmi1", "bmi2"});
  const bool wide = HasAll(flags, {"avx512f", "avx512vl", "avx512bw", "avx512dq"});
  p.vector_bytes = wide ? 64 : 32;
  p.byte_dots = HasAll(flags, {wide ? "avx512_vnni" : "avx_vnni"});
#endif
  if (p.name.empty()) p.name = "CPU";
  p.key =
      Cat(p.name, ", family ", CpuInfo("cpu family"), ", model ", CpuInfo("model\t"), ": ", flags);
  p.l1_bytes = CacheBytes(1, &p.l1_ways);
  p.l2_bytes = CacheBytes(2, nullptr);
  p.l3_bytes = CacheBytes(3, nullptr);
  return p;
}

std::mutex& ProcessorsMutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
// Both are guarded by the mutex.
int wanted_processors = 0;
bool processors_were_asked_for = false;

}  // namespace

bool SetUsableProcessors(int processors) {
  const std::lock_guard lock(ProcessorsMutex());
  if (processors_were_asked_for) return false;
  wanted_processors = processors;
  return true;
}

const Processor& ThisProcessor() {
  static const Processor& processor = *new Processor(Query());
  return processor;
}

int UsableProcessors() {
  {
    const std::lock_guard lock(ProcessorsMutex());
    processors_were_asked_for = true;
    if (wanted_processors > 0) return wanted_processors;
  }
  int usable = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  // A set of 1024 processors is too small for the largest machines.
  const size_t bytes = CPU_ALLOC_SIZE(8192);
  cpu_set_t* set = CPU_ALLOC(8192);
  if (sched_getaffinity(0, bytes, set) == 0) usable = std::max(1, CPU_COUNT_S(bytes, set));
  CPU_FREE(set);
  const double quota = GroupQuota();
  if (quota > 0) usable = std::min(usable, std::max(1, static_cast<int>(std::ceil(quota))));
  return usable;
}

}  // namespace tg::cpu
