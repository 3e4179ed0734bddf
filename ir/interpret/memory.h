// Memory of a kernel that is interpreted: global (a part of a buffer), or scratch, with one
// instance for each work-item or each group.
#ifndef TG_IR_INTERPRET_MEMORY_H_
#define TG_IR_INTERPRET_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/dtype.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module_flags.h"
#include "ir/uop.h"

namespace tg::interpret {

// Finds races: records the last accesses to each element of memory that work-items share. Two
// accesses of different work-items conflict if one changes the value and no barrier separates
// them; no barrier separates groups. A write that does not change the value is harmless. So are two
// writes of values of which the module's flags allow either, as overlapping tiles may store them:
// an element may be computed in another way as one lane of a tile than as another.
class RaceDetector {
 public:
  explicit RaceDetector(size_t size) : touched_(size) {}

  struct Who {
    int64_t item = -1;  // number of the work-item in the whole launch
    int64_t group = -1;
    int64_t epoch = 0;  // barriers that it has passed
  };
  // Each returns the other work-item of a conflict, or -1.
  int64_t Read(size_t at, const Who& who);
  // `agrees`: the flags allow both values, the one before and the one after.
  int64_t Write(size_t at, const Who& who, bool changes, bool agrees);

 private:
  struct Touched {
    Who writer, reader;
    int64_t other_reader_group = -1;
  };
  static bool Conflict(const Who& a, const Who& b) {
    return a.item >= 0 && a.item != b.item && (a.group != b.group || a.epoch == b.epoch);
  }
  std::vector<Touched> touched_;
};

struct Memory {
  const UOp* node = nullptr;
  Scalar element = Scalar::kVoid;
  AddrSpace space = AddrSpace::kGlobal;
  bool image = false;
  int64_t width = 0, height = 0;  // of an image
  int64_t size = 0;               // elements of one instance
  bool mutated = false;           // the kernel stores to it
  // Global memory: the buffer, and the offset of the argument in it.
  HostBuffer* buffer = nullptr;
  int64_t offset = 0;
  // Scratch: the data of all instances.
  std::vector<int64_t> own_data;
  std::vector<uint8_t> own_defined;
  std::shared_ptr<RaceDetector> races;
  ModuleFlags flags;

  int64_t* data() { return buffer ? buffer->data.data() + offset : own_data.data(); }
  // Null if every element is defined.
  uint8_t* defined() {
    if (!buffer) return own_defined.data();
    return buffer->defined.empty() ? nullptr : buffer->defined.data() + offset;
  }
  uint8_t* written() {
    return buffer && !buffer->written.empty() ? buffer->written.data() + offset : nullptr;
  }
};

enum class AccessError : uint8_t { kNone, kOutside, kUndefined, kRace };

// The instance of a memory that one work-item accesses.
struct Access {
  Memory* memory = nullptr;
  int64_t base = 0;  // of the instance
  RaceDetector::Who who;
  bool check_undefined = true;
  mutable int64_t other = -1;  // the other work-item of a race

  AccessError Read(int64_t at, int64_t* bits) const {
    Memory& m = *memory;
    if (at < 0 || at >= m.size) return AccessError::kOutside;
    const int64_t i = base + at;
    const uint8_t* defined = m.defined();
    if (check_undefined && defined && !defined[i]) return AccessError::kUndefined;
    *bits = m.data()[i];
    return m.races ? CheckRead(i) : AccessError::kNone;
  }
  AccessError Write(int64_t at, int64_t bits) const {
    Memory& m = *memory;
    if (at < 0 || at >= m.size) return AccessError::kOutside;
    const int64_t i = base + at;
    uint8_t* defined = m.defined();
    const int64_t before = m.data()[i];
    const bool fresh = defined && !defined[i];
    m.data()[i] = bits;
    if (defined) defined[i] = 1;
    if (uint8_t* written = m.written()) written[i] = 1;
    return m.races ? CheckWrite(i, fresh, before, bits) : AccessError::kNone;
  }
  // Makes an element undefined.
  AccessError Undefine(int64_t at) const;

 private:
  AccessError CheckRead(int64_t i) const;
  // `fresh`: the element had no value before.
  AccessError CheckWrite(int64_t i, bool fresh, int64_t before, int64_t bits) const;
};

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_MEMORY_H_
