// Machine code in memory, from an object file as LLVM's code generator writes it.
//
// A cached object needs no LLVM: this loader does what a linker would. It places the sections in
// one mapping, which is never writable and executable at once, and applies the relocations of
// position-independent code for x86-64. An object refers to itself, and to the few functions of
// libc to which LLVM turns code on its own (copies of memory, fma without the instruction).
#ifndef TG_RUNTIME_CPU_OBJECT_CODE_H_
#define TG_RUNTIME_CPU_OBJECT_CODE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tg::cpu {

class ObjectCode {
 public:
  // InvalidArgument for bytes that are no such object; every offset in it is checked.
  static absl::StatusOr<std::shared_ptr<const ObjectCode>> Load(std::string_view object);
  ~ObjectCode();
  ObjectCode(const ObjectCode&) = delete;
  ObjectCode& operator=(const ObjectCode&) = delete;

  // The address of a global function; null if there is none of this name.
  const void* Find(std::string_view name) const;
  size_t size() const { return size_; }

 private:
  friend class ObjectLoader;
  ObjectCode() = default;

  std::byte* memory_ = nullptr;
  size_t size_ = 0;
  std::map<std::string, const void*, std::less<>> functions_;
};

}  // namespace tg::cpu

#endif  // TG_RUNTIME_CPU_OBJECT_CODE_H_
