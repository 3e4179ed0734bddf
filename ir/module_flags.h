// The flags of a module, as a set.
#ifndef TG_IR_MODULE_FLAGS_H_
#define TG_IR_MODULE_FLAGS_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tg {

enum class ModuleFlag : uint8_t {
#define TG_MODULE_FLAG(name, text, doc) name,
#include "ir/module_flags.def"
#undef TG_MODULE_FLAG
};

struct ModuleFlagInfo {
  std::string_view text, doc;
};

inline constexpr std::array kModuleFlags = {
#define TG_MODULE_FLAG(name, text, doc) ModuleFlagInfo{text, doc},
#include "ir/module_flags.def"
#undef TG_MODULE_FLAG
};

class ModuleFlags {
 public:
  constexpr ModuleFlags() = default;
  constexpr ModuleFlags(std::initializer_list<ModuleFlag> flags) {
    for (ModuleFlag f : flags) Add(f);
  }
  constexpr void Add(ModuleFlag f) { bits_ |= Bit(f); }
  constexpr void Add(ModuleFlags other) { bits_ |= other.bits_; }
  // Adds the flag of that name; false where there is none.
  bool Add(std::string_view text) {
    for (size_t i = 0; i < kModuleFlags.size(); ++i) {
      if (kModuleFlags[i].text != text) continue;
      Add(static_cast<ModuleFlag>(i));
      return true;
    }
    return false;
  }
  constexpr bool has(ModuleFlag f) const { return (bits_ & Bit(f)) != 0; }
  constexpr bool HasAny(ModuleFlags other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const ModuleFlags&) const = default;

 private:
  static constexpr uint16_t Bit(ModuleFlag f) {
    return static_cast<uint16_t>(1u << static_cast<uint16_t>(f));
  }
  uint16_t bits_ = 0;
};

}  // namespace tg

#endif  // TG_IR_MODULE_FLAGS_H_
