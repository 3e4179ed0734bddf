// A module in a program of C++: the mean of the rows of a matrix, for any number of rows.
#include <tg/tg.h>

#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::string_view kMeans = R"(tg 1
module @means
var @n : [1, 1000]
buffer @x : f32[@n, 4] input
buffer @y : f32[@n] output
graph @main {
  %x = buffer @x : f32
  %0 = reduce_axis %x {op = add, axes = [1]} : f32
  %n = var @n : index
  %1 = reshape %0 {shape = [%n]} : f32
  %2 = const 0.25 : f32
  %3 = mul %1, %2 : f32
  sink %3 -> @y
}
)";

void Check(tg_status status) {
  if (status != TG_OK) throw std::runtime_error(tg_error());
}

class Model {
 public:
  explicit Model(std::string_view text) {
    tg_load_options options = {};
    options.size = sizeof options;
    options.device = "cpu";
    Check(tg_load_memory(text.data(), text.size(), &options, &model_));
  }
  ~Model() { tg_close(model_); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::vector<float> operator()(std::vector<float> x) {
    std::vector<float> y(x.size() / 4);
    tg_tensor in = Tensor("x", x), out = Tensor("y", y);
    in.rank = 2;
    in.shape[0] = static_cast<int64_t>(y.size());
    in.shape[1] = 4;
    Check(tg_call(model_, nullptr, &in, 1, &out, 1));
    return y;
  }

 private:
  static tg_tensor Tensor(const char* name, std::vector<float>& values) {
    tg_tensor t = {};
    t.size = sizeof t;
    t.name = name;
    t.type = TG_F32;
    t.data = values.data();
    t.bytes = values.size() * sizeof(float);
    return t;
  }

  tg_model model_ = {};
};

}  // namespace

int main() {
  try {
    Model means(kMeans);
    for (const int rows : {1, 3, 2}) {
      std::vector<float> x(static_cast<size_t>(rows) * 4);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
      for (const float mean : means(std::move(x))) std::printf("%g ", mean);
      std::printf("\n");
    }
    Model wrong("tg 2");
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
