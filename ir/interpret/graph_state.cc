#include "ir/interpret/graph_state.h"

#include <algorithm>

namespace tg::interpret {
namespace {

void ApplyTo(HostBuffer& b, const WriteRecord& w) {
  if (!w.errors.empty() && b.error.empty()) b.error.assign(b.data.size(), 0);
  for (size_t i = 0; i < w.indices.size(); ++i) {
    const auto at = static_cast<size_t>(w.indices[i]);
    b.data[at] = w.values[i];
    if (!b.defined.empty()) b.defined[at] = 1;
    if (!b.error.empty()) b.error[at] = w.errors.empty() ? 0 : w.errors[i];
  }
}

bool Holds(const Writes& writes, int order) {
  return std::any_of(writes.begin(), writes.end(),
                     [&](const auto& w) { return w->order == order; });
}

}  // namespace

VersionPtr Apply(const VersionPtr& base, std::shared_ptr<const WriteRecord> write) {
  auto contents = std::make_shared<HostBuffer>(*base->contents);
  ApplyTo(*contents, *write);
  auto version = std::make_shared<Version>(Version{base->name, std::move(contents), base->writes});
  version->writes.push_back(std::move(write));
  return version;
}

VersionPtr Join(const std::vector<VersionPtr>& versions, const VersionPtr& entry) {
  Writes all;
  for (const VersionPtr& v : versions) {
    for (const auto& w : v->writes) {
      if (!Holds(all, w->order)) all.push_back(w);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a->order < b->order; });
  for (const VersionPtr& v : versions) {
    if (v->writes == all) return v;
  }
  auto contents = std::make_shared<HostBuffer>(*entry->contents);
  for (const auto& w : all) ApplyTo(*contents, *w);
  return std::make_shared<Version>(Version{entry->name, std::move(contents), std::move(all)});
}

Tensor Read(const VersionPtr& version, const std::vector<int64_t>* map, Extents shape) {
  const std::shared_ptr<const HostBuffer>& b = version->contents;
  Tensor whole;
  whole.scalar = b->dtype.value_scalar();
  whole.shape = shape;
  whole.data = {b, &b->data};
  if (!b->defined.empty()) whole.defined = {b, &b->defined};
  if (!b->error.empty()) whole.error = {b, &b->error};
  if (b->dtype.is_image() && b->dtype.scalar() != Scalar::kF32) {
    // Texels are read as f32, whatever they are stored as.
    auto wide = std::make_shared<std::vector<int64_t>>(b->data.size());
    CastLanes(b->dtype.scalar(), Scalar::kF32, b->data.size(), b->data.data(), wide->data());
    whole.data = std::move(wide);
  }
  return map ? Gather(whole, Movement{std::move(shape), *map}) : whole;
}

}  // namespace tg::interpret
