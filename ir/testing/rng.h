// A random number generator whose sequence is the same on every machine and compiler.
#ifndef TG_IR_TESTING_RNG_H_
#define TG_IR_TESTING_RNG_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace tg::testing {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // A number in [0, n); requires n > 0.
  int64_t Below(int64_t n) {
    return static_cast<int64_t>((Next() >> 1) % static_cast<uint64_t>(n));
  }
  // A number in [lo, hi], inclusive.
  int64_t In(int64_t lo, int64_t hi) { return lo + Below(hi - lo + 1); }
  bool Percent(int p) { return Below(100) < p; }

  template <typename List>
  const auto& Pick(const List& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(list.size())))];
  }
  template <typename T>
  T Pick(std::initializer_list<T> list) {
    return list.begin()[Below(static_cast<int64_t>(list.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace tg::testing

#endif  // TG_IR_TESTING_RNG_H_
