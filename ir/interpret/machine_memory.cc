// Addresses, loads, stores and asynchronous copies.
//
// An address is the number of an element of its memory, or one of the two marks below.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/machine.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

constexpr int64_t kGatedOff = INT64_MIN;
constexpr int64_t kBorder = INT64_MIN + 1;  // outside an image: reads as 0
constexpr int64_t kTexel = 4;               // channels

}  // namespace

Access Machine::AccessOf(const UOp* address, size_t item) const {
  Access a;
  Memory* m = memories_[static_cast<size_t>(layout_.Get(address).memory)].get();
  a.memory = m;
  a.check_undefined = options_.check_undefined;
  const auto i = static_cast<int64_t>(item);
  if (!m->buffer) a.base = m->size * (m->space == AddrSpace::kLocal ? i / group_ : i);
  if (m->races) a.who = {first_group_ * group_ + i, GroupOf(item), epoch_};
  return a;
}

bool Machine::Explain(const UOp* u, const Access& access, int64_t item, int64_t at) {
  const Memory& m = *access.memory;
  std::string where =
      m.node->op == Op::kDefineGlobal
          ? absl::StrCat("argument ", m.node->word())
          : absl::StrCat(std::string(AddrSpaceName(m.space)), " scratch ", m.node->word(0));
  std::string problem;
  int64_t ignored = 0;
  Access again = access;
  if (at < 0 || at >= m.size) {
    problem = absl::StrCat("element ", at, " is outside ", where, " of ", m.size);
  } else if (access.other >= 0) {
    problem =
        absl::StrCat("race on element ", at, " of ", where, " with ",
                     access.other == INT64_MAX ? std::string("several work-items")
                                               : absl::StrCat("work-item ", access.other % group_,
                                                              " of group ", access.other / group_));
  } else if (again.Read(at, &ignored) == AccessError::kUndefined) {
    problem = absl::StrCat("element ", at, " of ", where, " was never written");
  } else {
    problem = absl::StrCat("element ", at, " of ", where, " is not accessible");
  }
  return Fail(u, absl::StrCat(problem, " (work-item ", item % group_, " of group ",
                              first_group_ + item / group_, ")"));
}

bool Machine::Index(const UOp* u) {
  const Layout& own = layout_[u];
  const Memory& m = *memories_[static_cast<size_t>(own.memory)];
  const auto lanes = static_cast<size_t>(own.lanes);
  const auto given = static_cast<size_t>(u->src(1)->dtype.lanes());
  // An image is addressed by (x, y); before devectorize also by the number of an element.
  const bool by_place = m.image && given == 2 * lanes;
  const bool is_mask = u->dtype.lanes() == 1 && lanes != 1;  // neighbours, each with a gate
  if (given != lanes && !by_place && !is_mask) {
    return Fail(u, "its index has another number of lanes than it has addresses");
  }
  const UOp* pointer = u->src(0);
  const Layout& from = layout_[pointer];
  const int64_t* base = from.has_value ? In(u, 0) : nullptr;
  if (base && from.lanes != 1 && from.lanes != own.lanes) {
    return Fail(u, "its pointer has another number of lanes");
  }
  const int64_t* index = In(u, 1);
  const int64_t* gate = u->num_srcs > 2 ? In(u, 2) : nullptr;
  const size_t gates = gate ? static_cast<size_t>(u->src(2)->dtype.lanes()) : 1;
  if (gates != 1 && gates != lanes) return Fail(u, "its gate has another number of lanes");
  int64_t* out = Out(u);
  for (size_t r = 0; r < Rows(u); ++r) {
    for (size_t k = 0; k < lanes; ++k, ++out) {
      if (gate && !gate[r * gates + (gates == 1 ? 0 : k)]) {
        *out = kGatedOff;
      } else if (by_place) {
        const int64_t x = index[(r * lanes + k) * 2], y = index[(r * lanes + k) * 2 + 1];
        const bool inside = x >= 0 && x < m.width && y >= 0 && y < m.height;
        *out = inside ? (y * m.width + x) * kTexel : kBorder;
      } else {
        *out = is_mask ? index[r] + static_cast<int64_t>(k) : index[r * lanes + k];
        if (base) {
          const int64_t b = base[from.lanes == 1 ? r : r * lanes + k];
          *out = b == kGatedOff ? b : b + *out;
        }
      }
    }
  }
  return true;
}

bool Machine::Load(const UOp* u) {
  const UOp* address = u->src(0);
  const Layout& from = layout_[address];
  if (from.memory < 0) return Fail(u, "source 0 is not an address");
  const Memory& m = *memories_[static_cast<size_t>(from.memory)];
  const Scalar to = u->dtype.scalar();
  const auto lanes = static_cast<size_t>(layout_[u].lanes);
  const auto addresses = static_cast<size_t>(from.lanes);
  if (lanes % addresses != 0) return Fail(u, "its lanes are no multiple of its addresses");
  const size_t run = lanes / addresses;
  const int64_t stride = StrideOf(u);
  if (m.image && run != static_cast<size_t>(kTexel) && run != 1) {
    return Fail(u, "an image is read by texels");
  }
  if (!CanConvertAccess(m.element, to)) return Fail(u, "cannot load this type from that memory");
  const int64_t* at = from.has_value ? In(u, 0) : nullptr;
  const int64_t* alt = u->num_srcs > 1 ? In(u, 1) : nullptr;
  const bool converts = m.element != to;
  const size_t points = static_cast<size_t>(layout_[u].points);
  int64_t* out = Out(u);
  for (size_t r = 0; r < Rows(u); ++r) {
    const size_t item = r / points;
    if (!Active(item)) {
      out = std::fill_n(out, lanes, 0);
      continue;
    }
    const Access access = AccessOf(address, item);
    for (size_t a = 0; a < addresses; ++a, out += run) {
      const int64_t first = at ? at[r * addresses + a] : 0;
      if (first == kGatedOff || first == kBorder) {
        const bool instead = first == kGatedOff && alt;
        for (size_t k = 0; k < run; ++k) out[k] = instead ? alt[r * lanes + a * run + k] : 0;
        continue;
      }
      for (size_t k = 0; k < run; ++k) {
        const int64_t element = first + static_cast<int64_t>(k) * stride;
        if (access.Read(element, &out[k]) != AccessError::kNone) {
          return Explain(u, access, static_cast<int64_t>(item), element);
        }
        if (converts) out[k] = ConvertAccess(m.element, to, out[k]);
      }
    }
  }
  return true;
}

bool Machine::Store(const UOp* u) {
  const UOp* address = u->src(0);
  const Layout& to = layout_[address];
  if (to.memory < 0) return Fail(u, "source 0 is not an address");
  const Memory& m = *memories_[static_cast<size_t>(to.memory)];
  const Scalar from = u->src(1)->dtype.scalar();
  const auto lanes = static_cast<size_t>(u->src(1)->dtype.lanes());
  const auto addresses = static_cast<size_t>(to.lanes);
  if (lanes % addresses != 0) return Fail(u, "its lanes are no multiple of its addresses");
  const size_t run = lanes / addresses;
  const int64_t stride = StrideOf(u);
  if (m.image && run != static_cast<size_t>(kTexel) && run != 1) {
    return Fail(u, "an image is written by texels");
  }
  if (!CanConvertAccess(from, m.element)) return Fail(u, "cannot store this type there");
  const int64_t* at = to.has_value ? In(u, 0) : nullptr;
  const int64_t* value = In(u, 1);
  const bool converts = m.element != from;
  const size_t points = static_cast<size_t>(layout_[u].points);
  for (size_t r = 0; r < Rows(u); ++r) {
    const size_t item = r / points;
    if (!Active(item)) continue;
    const Access access = AccessOf(address, item);
    for (size_t a = 0; a < addresses; ++a) {
      const int64_t first = at ? at[r * addresses + a] : 0;
      if (first == kGatedOff) continue;
      if (first == kBorder) return Fail(u, "writes outside the image");
      const int64_t* in = value + r * lanes + a * run;
      for (size_t k = 0; k < run; ++k) {
        const int64_t element = first + static_cast<int64_t>(k) * stride;
        const int64_t bits = converts ? ConvertAccess(from, m.element, in[k]) : in[k];
        if (access.Write(element, bits) != AccessError::kNone) {
          return Explain(u, access, static_cast<int64_t>(item), element);
        }
      }
    }
  }
  return true;
}

// Reads the values now. The elements of the target are undefined until a `wait` for the copy's
// batch.
bool Machine::CopyAsync(const UOp* u) {
  const UOp* target = u->src(0);
  const UOp* source = u->src(1);
  if (layout_[target].memory < 0 || layout_[source].memory < 0) {
    return Fail(u, "sources 0 and 1 must be addresses");
  }
  if (layout_[target].lanes != 1 || layout_[source].lanes != 1) {
    return Fail(u, "copies between single addresses");
  }
  const int64_t* to = layout_[target].has_value ? In(u, 0) : nullptr;
  const int64_t* from = layout_[source].has_value ? In(u, 1) : nullptr;
  const Scalar to_type = target->dtype.scalar(), from_type = source->dtype.scalar();
  if (to_type != from_type) return Fail(u, "cannot convert");
  for (size_t r = 0; r < Rows(u); ++r) {
    const size_t item = r / static_cast<size_t>(layout_[u].points);
    if (!Active(item)) continue;
    const Access write = AccessOf(target, item), read = AccessOf(source, item);
    const int64_t first_to = to ? to[r] : 0, first_from = from ? from[r] : 0;
    if (first_to == kGatedOff) continue;
    for (int64_t k = 0; k < u->word(); ++k) {
      int64_t bits = 0;  // a gated source reads as 0
      if (first_from != kGatedOff && read.Read(first_from + k, &bits) != AccessError::kNone) {
        return Explain(u, read, static_cast<int64_t>(item), first_from + k);
      }
      if (write.Undefine(first_to + k) != AccessError::kNone) {
        return Explain(u, write, static_cast<int64_t>(item), first_to + k);
      }
      batches_.back().push_back({write, first_to + k, bits});
    }
  }
  return true;
}

bool Machine::CopyTransposed(const UOp* u) {
  const UOp *target = u->src(0), *source = u->src(1);
  if (layout_[target].memory < 0 || layout_[source].memory < 0) {
    return Fail(u, "sources 0 and 1 must be addresses");
  }
  if (layout_[target].lanes != 1 || layout_[source].lanes != 1) {
    return Fail(u, "copies between single addresses");
  }
  if (target->dtype.scalar() != source->dtype.scalar()) return Fail(u, "cannot convert");
  const int64_t* to = layout_[target].has_value ? In(u, 0) : nullptr;
  const int64_t* from = layout_[source].has_value ? In(u, 1) : nullptr;
  const int64_t rows = u->word(0), columns = u->word(1);
  for (size_t r = 0; r < Rows(u); ++r) {
    const size_t item = r / static_cast<size_t>(layout_[u].points);
    if (!Active(item)) continue;
    const Access write = AccessOf(target, item), read = AccessOf(source, item);
    const int64_t first_to = to ? to[r] : 0, first_from = from ? from[r] : 0;
    if (first_to == kGatedOff || first_from == kGatedOff) return Fail(u, "its address has a gate");
    for (int64_t k = 0; k < rows * columns; ++k) {
      const int64_t at = first_from + k / columns * u->word(3) + k % columns;
      const int64_t there = first_to + k % columns * u->word(2) + k / columns;
      int64_t bits = 0;
      if (read.Read(at, &bits) != AccessError::kNone) {
        return Explain(u, read, static_cast<int64_t>(item), at);
      }
      if (write.Write(there, bits) != AccessError::kNone) {
        return Explain(u, write, static_cast<int64_t>(item), there);
      }
    }
  }
  return true;
}

bool Machine::Wait(const UOp* u) {
  // The last batch is open: it is not waited for.
  const auto pending = static_cast<size_t>(std::max<int64_t>(0, u->word()));
  const size_t committed = batches_.size() - 1;
  if (committed <= pending) return true;
  const size_t done = committed - pending;
  for (size_t b = 0; b < done; ++b) {
    for (PendingWrite& w : batches_[b]) {
      w.access.who.epoch = epoch_;
      if (w.access.Write(w.at, w.bits) != AccessError::kNone) {
        return Explain(u, w.access, w.access.who.item - first_group_ * group_, w.at);
      }
    }
  }
  batches_.erase(batches_.begin(), batches_.begin() + static_cast<std::ptrdiff_t>(done));
  return true;
}

}  // namespace tg::interpret
