// Device selection for modules, and sessions on several devices.
#include "runtime/devices/devices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ir/text/diagnostic.h"
#include "ir/text/printer.h"
#include "ir/text/testing.h"
#include "passes/pipeline.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/device_session.h"
#include "runtime/session/open_devices.h"
#include "runtime/session/reference_session.h"

namespace tg::runtime {
namespace {

std::vector<Device> Fakes() {
  std::vector<Device> devices(4);
  const char* const names[] = {"Ryzen", "H200 A", "H200 B", "Xeon"};
  for (int i = 0; i < 4; ++i) {
    Device& d = devices[static_cast<size_t>(i)];
    d.index = i;
    d.info.name = names[i];
    d.info.kind = i == 1 || i == 2 ? DeviceKind::kGpu : DeviceKind::kCpu;
  }
  return devices;
}

// Returns a module whose graph copies @x on device `a` to @y on device `b`.
std::string Between(const std::string& a, const std::string& b) {
  const auto on = [](const std::string& name) {
    return name.empty() ? "" : " on \"" + name + "\"";
  };
  return "tg 1\nmodule @m\nbuffer @x : f32[4] input" + on(a) + "\nbuffer @y : f32[4] output" +
         on(b) + "\nbuffer @unused : f32[4] state on \"nowhere\"\n\ngraph @main {\n" +
         "  %x = buffer @x : f32\n  %c = copy %x" + (b.empty() ? "" : " {device = \"" + b + "\"}") +
         " : f32\n  sink %c -> @y\n}\n";
}

// Returns "NAME=DEVICE" pairs of the chosen devices, or the error message.
std::string Choose(const std::string& a, const std::string& b,
                   const std::vector<std::string>& texts) {
  const auto request = ParseDeviceRequest(texts);
  if (!request.ok()) return std::string(request.status().message());
  const std::vector<Device> fakes = Fakes();
  const auto chosen = ChooseDevices(*ParseOrFail(Between(a, b)), *request, fakes);
  if (!chosen.ok()) return std::string(chosen.status().message());
  std::string text;
  for (const ChosenDevice& c : *chosen) {
    text += (text.empty() ? "" : " ") + c.name + "=" + c.device.info.name;
  }
  return text;
}

TEST(ChooseDevices, Requests) {
  EXPECT_EQ(Choose("", "", {}), "=H200 A");
  EXPECT_EQ(Choose("", "", {"cpu"}), "=Ryzen");
  EXPECT_EQ(Choose("", "B", {"cpu", "B=gpu:1"}), "=Ryzen B=H200 B");
  EXPECT_EQ(Choose("B", "", {"B=cpu:1"}), "=H200 A B=Xeon");
  // A name without a request serves as its request.
  EXPECT_EQ(Choose("GPU", "GPU:1", {}), "GPU=H200 A GPU:1=H200 B");
  EXPECT_EQ(Choose("CL", "CL:3", {}), "CL=H200 A CL:3=Xeon");
  EXPECT_EQ(Choose("", "xeon", {}), "=H200 A xeon=Xeon");
  // The plain request applies to the only device.
  EXPECT_EQ(Choose("B", "B", {"cpu"}), "B=Ryzen");
  EXPECT_EQ(Choose("cpu", "cpu", {}), "cpu=Ryzen");
}

TEST(ChooseDevices, Errors) {
  const std::string list = DescribeDevices(Fakes());
  EXPECT_EQ(Choose("", "NPU", {}),
            "test.uop:4: buffer @y is on device 'NPU': no device matches 'NPU'; name one by "
            "cpu, gpu, its number or a part of its name:\n" +
                list + "which it is can be said, as in --device='NPU=cpu'");
  EXPECT_EQ(Choose("", "GPU:2", {"GPU:2=gpu:2"}),
            "no device matches 'gpu:2'; name one by cpu, gpu, its number or a part of its "
            "name:\n" +
                list);
  EXPECT_EQ(Choose("", "B", {"C=cpu"}), "module @m has no device 'C'; it names: 'B'");
  EXPECT_EQ(Choose("", "", {"C=cpu"}), "module @m has no device 'C'; it names none");
  EXPECT_EQ(Choose("A", "B", {"cpu"}),
            "module @m has 2 devices, 'A' and others: which is to be 'cpu' is said as in "
            "--device='A=cpu'");
  EXPECT_EQ(Choose("", "", {"cpu", "gpu"}),
            "the device is given twice, as 'cpu' and 'gpu'; NAME=DEVICE says it of one that the "
            "module names");
  EXPECT_EQ(Choose("", "B", {"B=cpu", "B=gpu"}), "device 'B' is given twice");
  EXPECT_EQ(Choose("", "B", {"=cpu"}), "expected DEVICE or NAME=DEVICE, not '=cpu'");
}

// Values pass through three devices, are read before they are overwritten, and states persist.
constexpr char kRound[] = R"(tg 1
module @round
buffer @x : f32[300, 700] input on "A"
buffer @w : f32[700] param on "B"
buffer @s : f32[300, 700] state on "C"
buffer @t : f32[300, 700] state on "A"
buffer @y : f32[700, 300] output on "B"
buffer @z : f32[300, 1] output on "A"

graph @main {
  %x = buffer @x : f32
  %t = buffer @t : f32
  %half = const 0.5 : f32
  %0 = mul %t, %half : f32
  %a = add %x, %0 : f32
  %ab = copy %a {device = "B"} : f32
  %w = buffer @w : f32
  %1 = reshape %w {shape = [1, 700]} : f32
  %2 = expand %1 {shape = [300, 700]} : f32
  %b = mul %ab, %2 : f32
  %bc = copy %b {device = "C"} : f32
  %s = buffer @s : f32
  %c = add %bc, %s : f32
  %s1 = assign %s, %c : f32
  %ca = copy %s1 {device = "A"} : f32
  %d = sub %ca, %a : f32
  %t1 = assign %t, %d : f32
  %sum = reduce_axis %t1 {op = add, axes = [1]} : f32
  %dt = permute %t1 {axes = [1, 0]} : f32
  %db = copy %dt {device = "B"} : f32
  %old = copy %t {device = "B"} : f32
  %oldt = permute %old {axes = [1, 0]} : f32
  %y = sub %db, %oldt : f32
  %w2 = copy %w {device = "A"} : f32
  %w3 = reduce_axis %w2 {op = max, axes = [0]} : f32
  %w4 = reshape %w3 {shape = []} : f32
  %z = mul %sum, %w4 : f32
  sink %y -> @y, %z -> @z
}
)";

HostTensor RandomFloats(std::vector<int64_t> shape, unsigned seed) {
  HostTensor tensor = *MakeHostTensor(ElementType::kF32, std::move(shape));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (size_t i = 0; i < tensor.data.size(); i += 4) {
    const float value = uniform(random);
    std::memcpy(&tensor.data[i], &value, 4);
  }
  return tensor;
}

enum class How { kOneContext, kThroughTheHost, kTwoTargets };
// Which devices: those of OpenCL, native ones, or one native device and two of OpenCL.
enum class Which { kOpenCl, kNative, kMixed };
class SeveralDevices : public ::testing::TestWithParam<std::tuple<How, Which>> {};
INSTANTIATE_TEST_SUITE_P(
    All, SeveralDevices,
    ::testing::Combine(::testing::Values(How::kOneContext, How::kThroughTheHost, How::kTwoTargets),
                       ::testing::Values(Which::kOpenCl, Which::kNative, Which::kMixed)));

TEST_P(SeveralDevices, AgreeWithTheInterpreter) {
  const auto [how, which] = GetParam();
  const auto all = ListDevices();
  ASSERT_TRUE(all.ok());
  std::vector<Device> devices;
  for (const Device& d : *all) {
    const bool first = devices.empty();
    const bool native = which == Which::kNative || (which == Which::kMixed && first);
    if (d.info.is_native == native) devices.push_back(d);
  }
  if (devices.size() < 3) GTEST_SKIP() << "less than three devices";
  std::unique_ptr<Module> module = ParseOrFail(kRound);
  std::vector<ChosenDevice> chosen;
  for (size_t i = 0; i < 3; ++i) chosen.push_back({std::string(1, "ABC"[i]), devices[i]});
  DeviceSessionOptions options;
  ASSERT_TRUE(OpenDevices(*module, chosen, "", /*profiling=*/true, options).ok());
  ASSERT_EQ(options.others.size(), 2u);
  if (how == How::kThroughTheHost) {
    // Each device gets a separate context.
    for (NamedDevice& d : options.others) d.context = *OpenContext(d.context->device(), true);
  }
  if (how == How::kTwoTargets) {
    for (NamedDevice& d : options.others) d.target = *passes::FindTarget("cl-plain");
  }
  options.time_kernels = true;
  const interpret::InterpretOptions interpret = interpret::OptionsFor(*module);
  ReferenceSession reference(Clone(*module), interpret);
  const absl::Status compiled =
      CompileForDevices(*module, passes::MakePipeline(passes::kPipeline), {}, options);
  ASSERT_TRUE(compiled.ok()) << compiled;
  if (how == How::kTwoTargets || which == Which::kMixed) {
    ASSERT_NE(options.others[0].module, nullptr);
    EXPECT_EQ(options.others[0].module, options.others[1].module);
    if (how == How::kTwoTargets) {
      EXPECT_NE(PrintModule(*options.others[0].module), PrintModule(*module));
    }
  } else {
    EXPECT_EQ(options.others[0].module, nullptr);
  }
  auto session = DeviceSession::Create(std::move(module), std::move(options));
  ASSERT_TRUE(session.ok()) << session.status();
  const HostTensor w = RandomFloats({700}, 1);
  for (Session* s : {static_cast<Session*>(session->get()), static_cast<Session*>(&reference)}) {
    ASSERT_TRUE(s->Set("w", w).ok());
  }
  for (unsigned run = 0; run < 4; ++run) {
    const HostTensor x = RandomFloats({300, 700}, 2 + run);
    for (Session* s : {static_cast<Session*>(session->get()), static_cast<Session*>(&reference)}) {
      ASSERT_TRUE(s->Set("x", x).ok());
      const absl::Status status = s->Run();
      ASSERT_TRUE(status.ok()) << status;
    }
    for (const char* name : {"y", "z", "s", "t"}) {
      const HostTensor got = *(*session)->Get(name), want = *reference.Get(name);
      ASSERT_EQ(got.shape, want.shape);
      double worst = 0;
      for (size_t i = 0; i < got.data.size(); i += 4) {
        float a = 0, b = 0;
        std::memcpy(&a, &got.data[i], 4);
        std::memcpy(&b, &want.data[i], 4);
        worst = std::max(worst, std::abs(static_cast<double>(a) - static_cast<double>(b)));
      }
      EXPECT_LT(worst, name == std::string("z") ? 1e-3 : 1e-5) << name << " in run " << run;
    }
  }
  // Each kernel and copy ran on the right device and has a time.
  const DeviceSession& d = **session;
  size_t copies = 0;
  for (size_t i = 0; i < d.last_plan()->kernels().size(); ++i) {
    copies += d.last_plan()->kernels()[i].kernel == nullptr;
    EXPECT_GT(d.last_times().kernels[i].ended, 0u);
  }
  EXPECT_EQ(copies, 5u);
}

TEST(ASession, NamesADeviceThatIsMissing) {
  const auto devices = ListDevices();
  ASSERT_TRUE(devices.ok() && !devices->empty());
  std::unique_ptr<Module> module = ParseOrFail(kRound);
  DeviceSessionOptions options;
  const std::vector<ChosenDevice> only = {{"A", (*devices)[0]}};
  ASSERT_TRUE(OpenDevices(*module, only, "", false, options).ok());
  ASSERT_TRUE(
      CompileForDevices(*module, passes::MakePipeline(passes::kPipeline), {}, options).ok());
  const auto session = DeviceSession::Create(std::move(module), std::move(options));
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().message(), "module @round is for device 'B' too, which is not open");
}

}  // namespace
}  // namespace tg::runtime

int main(int argc, char** argv) {
  // With these settings any machine has three devices of PoCL, and three native ones.
  ::setenv("POCL_DEVICES", "pthread pthread pthread", /*overwrite=*/0);
  ::setenv("TG_CPU_DEVICES", "3", /*overwrite=*/0);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
