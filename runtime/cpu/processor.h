// This machine's processor: what the runtime and the choice of a target need of it.
#ifndef TG_RUNTIME_CPU_PROCESSOR_H_
#define TG_RUNTIME_CPU_PROCESSOR_H_

#include <cstdint>
#include <string>

namespace tg::cpu {

struct Processor {
  std::string name;           // as the system calls it
  std::string key;            // name and features: two processors with one key run the same code
  bool is_supported = false;  // runtime/cpu makes code for it: x86-64 with AVX2, FMA and F16C
  int vector_bytes = 0;       // of a register: 64 with AVX-512, 32 with AVX2
  bool byte_dots = false;     // dot products of bytes for these vectors: AVX-512 VNNI, AVX-VNNI
  // Sizes of caches as the system reports them; 0 if it does not.
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  int l1_ways = 0;
};

const Processor& ThisProcessor();

// The number of threads that can run at the same time: the processors that this process may use
// (taskset), bounded by its control group's quota. At least 1.
int UsableProcessors();

// Has UsableProcessors() return this number; 0: what the system says. False, and nothing is
// changed, once that has been called.
bool SetUsableProcessors(int processors);

}  // namespace tg::cpu

#endif  // TG_RUNTIME_CPU_PROCESSOR_H_
