#include <algorithm>

#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {

absl::Status Order::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  if (axes.size() < 2) return Illegal("the order of one axis is no order");
  loop_nest::AxisList named;
  for (const std::string& name : axes) {
    size_t at = 0;
    if (absl::Status s = FindAxis(nest, name, at); !s.ok()) return s;
    if (std::find(named.begin(), named.end(), at) != named.end()) {
      return Illegal("names axis ", name, " twice");
    }
    named.push_back(at);
    const AxisKind first = nest.axes[named[0]].kind, kind = nest.axes[at].kind;
    if (kind == first) continue;
    return Illegal("axis ", axes[0], " is ", std::string(AxisKindName(first)), ", and axis ", name,
                   " is ", std::string(AxisKindName(kind)));
  }
  return absl::OkStatus();
}

void Order::Apply(loop_nest::LoopNest& nest) const {
  loop_nest::AxisList from;
  for (const std::string& name : axes) from.push_back(nest.AxisNamed(name));
  loop_nest::AxisList places = from;
  std::sort(places.begin(), places.end());
  loop_nest::AxisList moved;  // by former position
  for (size_t i = 0; i < nest.axes.size(); ++i) moved.push_back(i);
  for (size_t n = 0; n < from.size(); ++n) moved[from[n]] = places[n];
  nest.Permute(moved);
}

}  // namespace tg::directive
