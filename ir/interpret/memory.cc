#include "ir/interpret/memory.h"

#include "ir/interpret/allowed.h"

namespace tg::interpret {

int64_t RaceDetector::Read(size_t at, const Who& who) {
  Touched& t = touched_[at];
  if (Conflict(t.writer, who)) return t.writer.item;
  if (t.reader.item >= 0 && t.reader.group != who.group) t.other_reader_group = t.reader.group;
  // Several readers of a group in one epoch are recorded as item INT64_MAX, so that a later write
  // by any of them conflicts.
  if (!(t.reader.epoch == who.epoch && t.reader.group == who.group && t.reader.item >= 0)) {
    t.reader = who;
  } else if (t.reader.item != who.item) {
    t.reader.item = INT64_MAX;
  }
  return -1;
}

int64_t RaceDetector::Write(size_t at, const Who& who, bool changes, bool agrees) {
  if (!changes) return -1;
  Touched& t = touched_[at];
  if (!agrees && Conflict(t.writer, who)) return t.writer.item;
  if (Conflict(t.reader, who)) return t.reader.item;
  if (t.other_reader_group >= 0 && t.other_reader_group != who.group) return INT64_MAX;
  t.writer = who;
  return -1;
}

AccessError Access::CheckRead(int64_t i) const {
  other = memory->races->Read(static_cast<size_t>(memory->offset + i), who);
  return other >= 0 ? AccessError::kRace : AccessError::kNone;
}

AccessError Access::CheckWrite(int64_t i, bool fresh, int64_t before, int64_t bits) const {
  const bool changes = fresh || before != bits;
  const bool agrees = !fresh && AllowBoth(memory->flags, memory->element, before, bits);
  other = memory->races->Write(static_cast<size_t>(memory->offset + i), who, changes, agrees);
  return other >= 0 ? AccessError::kRace : AccessError::kNone;
}

AccessError Access::Undefine(int64_t at) const {
  if (at < 0 || at >= memory->size) return AccessError::kOutside;
  if (uint8_t* defined = memory->defined()) defined[base + at] = 0;
  return AccessError::kNone;
}

}  // namespace tg::interpret
