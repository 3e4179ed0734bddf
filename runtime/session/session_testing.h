// The fixture of tests that run a module on the device and on the interpreter.
#ifndef TG_RUNTIME_SESSION_SESSION_TESTING_H_
#define TG_RUNTIME_SESSION_SESSION_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "runtime/opencl/testing.h"
#include "runtime/session/compile.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/device_target.h"
#include "runtime/session/reference_session.h"

namespace tg::runtime {

inline HostTensor Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  HostTensor tensor{ElementType::kF32, std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.data.assign(bytes.begin(), bytes.end());
  return tensor;
}

inline std::vector<float> Values(const HostTensor& tensor) {
  std::vector<float> values(tensor.data.size() / 4);
  std::copy(tensor.data.begin(), tensor.data.end(),
            std::as_writable_bytes(std::span(values)).begin());
  return values;
}

inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

#define ASSERT_OK(expr) \
  if (const absl::Status s = (expr); !s.ok()) FAIL() << s

// Param: whether the session runs on the interpreter.
class SessionTest : public ::testing::TestWithParam<bool> {
 protected:
  absl::Status Open(const std::string& text, const std::string& path = "") {
    text_ = text;
    Diagnostics diagnostics;
    std::unique_ptr<Module> module = ParseModule(text_, "test.uop", diagnostics);
    if (module == nullptr) return diagnostics.ToStatus();
    module->path = path;
    if (GetParam()) {
      const interpret::InterpretOptions options = interpret::OptionsFor(*module);
      session_ = std::make_unique<ReferenceSession>(std::move(module), options);
      return absl::OkStatus();
    }
    DeviceSessionOptions options;
    options.context = TestContext();
    options.target = TargetForDevice(options.context->info());
    TG_RETURN_IF_ERROR(CompileForTarget(*module, options.target));
    TG_ASSIGN_OR_RETURN(session_, DeviceSession::Create(std::move(module), std::move(options)));
    return absl::OkStatus();
  }
  std::vector<float> Get(const std::string& name) {
    const absl::StatusOr<HostTensor> tensor = session_->Get(name);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    return tensor.ok() ? Values(*tensor) : std::vector<float>();
  }

  std::string text_;
  std::unique_ptr<Session> session_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_SESSION_TESTING_H_
