// The parts of a search that need no device; tools/test/tune.uop searches.
#include "runtime/search/search.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "base/cat.h"
#include "ir/text/parser.h"
#include "passes/directives/directives.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "runtime/search/compare.h"
#include "runtime/search/record_lines.h"
#include "runtime/search/search_workers.h"
#include "runtime/search/space.h"
#include "runtime/search/worker_process.h"

namespace tg::search {
namespace {

using runtime::ElementType;
using runtime::HostTensor;

// An executable that answers as the script says.
std::string Script(const std::string& name, const std::string& body) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  ::chmod(path.c_str(), 0755);
  return path;
}

std::unique_ptr<WorkerProcess> StartScript(const std::string& name, const std::string& body) {
  auto worker = WorkerProcess::Start(Script(name, body));
  EXPECT_TRUE(worker.ok()) << worker.status();
  return *std::move(worker);
}

constexpr char kMeasured[] = R"({"outcome":"measured","seconds":0.5,"first":1,"what":""})";

TEST(WorkerProcess, AnswersEachLine) {
  auto worker =
      StartScript("good", std::string("while read line; do echo '") + kMeasured + "'; done");
  for (int i = 0; i < 3; ++i) {
    const Answer answer = worker->Ask("x\n", 10);
    EXPECT_EQ(answer.outcome, Outcome::kMeasured);
    EXPECT_EQ(answer.seconds, 0.5);
    EXPECT_EQ(answer.first_seconds, 1);
    EXPECT_TRUE(worker->is_alive());
  }
}

TEST(WorkerProcess, HangIsEndedAtTheDeadline) {
  auto worker = StartScript("hang", "exec sleep 100");
  const auto start = std::chrono::steady_clock::now();
  const Answer answer = worker->Ask("x\n", 0.2);
  EXPECT_EQ(answer.outcome, Outcome::kHung);
  EXPECT_FALSE(worker->is_alive());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
  EXPECT_EQ(worker->Ask("x\n", 1).outcome, Outcome::kCrashed);
}

TEST(WorkerProcess, CrashIsNamed) {
  const Answer answer = StartScript("crash", "read line; kill -SEGV $$")->Ask("x\n", 10);
  EXPECT_EQ(answer.outcome, Outcome::kCrashed);
  EXPECT_EQ(answer.what, "the process ended: signal 11");
  const Answer exit = StartScript("exit", "read line; exit 3")->Ask("x\n", 10);
  EXPECT_EQ(exit.outcome, Outcome::kCrashed);
  EXPECT_EQ(exit.what, "the process ended: exit code 3");
}

TEST(WorkerProcess, NonsenseIsACrash) {
  const Answer answer = StartScript("nonsense", "read line; echo nonsense; cat")->Ask("x\n", 10);
  EXPECT_EQ(answer.outcome, Outcome::kCrashed);
}

TEST(WorkerProcess, MissingProgramIsAnError) {
  const auto worker = WorkerProcess::Start(::testing::TempDir() + "/none");
  // posix_spawn may report it, or the child may end at once.
  if (worker.ok()) {
    EXPECT_EQ((*worker)->Ask("x\n", 10).outcome, Outcome::kCrashed);
  }
}

// A folder in which scripts leave files, empty.
std::string EmptyFolder(const std::string& name) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  return path;
}

size_t FilesIn(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                           std::filesystem::directory_iterator()));
}

TEST(SearchWorkers, CompileAtOnce) {
  const std::string folder = EmptyFolder("at_once");
  // Answers a request to compile when each of three processes has got one.
  const std::string script =
      Script("barrier",
             Cat("while read line; do case \"$line\" in *'\"only_compile\":true'*) touch ", folder,
                 "/$$; while [ $(ls ", folder,
                 " | wc -l) -lt 3 ]; do sleep 0.01; done;; esac; echo '", kMeasured, "'; done"));
  SearchWorkers workers(script, 3, 60);
  workers.Begin(Job{"m"});
  ASSERT_EQ(*workers.Open(3), 3u);
  const std::vector<Answer> answers = workers.Compile({{"a", "x"}, {"a", "y"}, {"a", "z"}});
  ASSERT_EQ(answers.size(), 3u);
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].outcome, Outcome::kMeasured) << answers[i].what;
    EXPECT_EQ(workers.Measure(i, {"a", "x"}).seconds, 0.5);
  }
}

TEST(SearchWorkers, HangsAtOnceHaveOneDeadline) {
  const std::string script =
      Script("hangs", Cat("read line; echo '", kMeasured, "'; exec sleep 100"));
  SearchWorkers workers(script, 2, 1);
  workers.Begin(Job{"m"});
  ASSERT_EQ(*workers.Open(2), 2u);
  for (const Answer& answer : workers.Compile({{"a", "x"}, {"a", "y"}})) {
    EXPECT_EQ(answer.outcome, Outcome::kHung);
    EXPECT_NE(answer.what, "no answer in 0 s");
  }
}

TEST(SearchWorkers, StayForTheNextJob) {
  const std::string folder = EmptyFolder("stayed");
  const std::string script =
      Script("stay", Cat("touch ", folder, "/$$; while read line; do case \"$line\" in *crash*) ",
                         "exit 3;; esac; echo '", kMeasured, "'; done"));
  SearchWorkers workers(script, 2, 60);
  for (const char* module : {"a", "b"}) {
    workers.Begin(Job{module});
    EXPECT_EQ(*workers.Open(2), 2u);
  }
  EXPECT_EQ(FilesIn(folder), 2u);
  // One that has crashed is replaced.
  EXPECT_EQ(workers.Compile({{"crash", ""}, {"b", ""}})[0].outcome, Outcome::kCrashed);
  EXPECT_EQ(*workers.Open(2), 2u);
  EXPECT_EQ(FilesIn(folder), 3u);
}

TEST(SearchWorkers, JobFailsInANewProcessOnly) {
  // Every process fails at its second job, and at any that is called wrong.
  const std::string script =
      Script("second", Cat("read line; case \"$line\" in *wrong*) exit 3;; esac; echo '", kMeasured,
                           "'; read line; exit 4"));
  SearchWorkers workers(script, 2, 60);
  for (const char* module : {"a", "b"}) {
    workers.Begin(Job{module});
    EXPECT_EQ(*workers.Open(2), 2u);
  }
  workers.Begin(Job{"wrong"});
  EXPECT_EQ(*workers.Open(2), 0u);
  EXPECT_EQ(workers.problem().what, "the process ended: exit code 3");
}

TEST(SearchWorkers, FewerWhereNotAllCanOpen) {
  const std::string script =
      Script("few", Cat("while read line; do case \"$line\" in *scratch2*) exit 3;; esac; echo '",
                        kMeasured, "'; done"));
  SearchWorkers workers(script, 4, 60);
  Job job{"m"};
  job.scratch = "scratch";
  workers.Begin(job);
  EXPECT_EQ(*workers.Open(4), 2u);
  EXPECT_EQ(*workers.Open(4), 2u);
}

TEST(Protocol, LinesAreReadBack) {
  const Job job = {"a \"file\"", "2", "t", "default", "s", {{"x", "x.npy"}}, {{"n", 3}}};
  const auto read = ParseJob(ToLine(job));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->module, job.module);
  EXPECT_EQ(read->inputs, job.inputs);
  EXPECT_EQ(read->vars, job.vars);
  const auto request = ParseRequest(ToLine(Request{"00ff", "local(i0, 4)", true}));
  ASSERT_TRUE(request.ok());
  EXPECT_TRUE(request->only_compile);
  EXPECT_FALSE(ParseRequest(ToLine(Request{"00ff", "local(i0, 4)"}))->only_compile);
  EXPECT_TRUE(IsJob(ToLine(job)));
  EXPECT_FALSE(IsJob(ToLine(*request)));
  EXPECT_EQ(request->key, "00ff");
  EXPECT_EQ(request->directives, "local(i0, 4)");
  const auto answer = ParseAnswer(ToLine(Answer{Outcome::kDiffers, 1, 2, "w\xff"}));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->outcome, Outcome::kDiffers);
  EXPECT_FALSE(ParseJob("{}").ok());
  EXPECT_FALSE(ParseAnswer("[1]").ok());
  EXPECT_FALSE(ParseAnswer("{\"outcome\":\"fine\"}").ok());
}

template <typename T>
HostTensor TensorOf(ElementType type, const std::vector<T>& values) {
  HostTensor tensor{type, {static_cast<int64_t>(values.size())}, {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.data.assign(bytes.begin(), bytes.end());
  return tensor;
}

TEST(Compare, FloatsMayDifferByRounding) {
  const auto floats = [](std::vector<float> v) { return TensorOf(ElementType::kF32, v); };
  const HostTensor expected = floats({1, 100, -3, 0});
  EXPECT_EQ(Difference(expected, expected), "");
  EXPECT_EQ(Difference(expected, floats({1.00001f, 100, -3, 0.001f})), "");
  EXPECT_EQ(Difference(expected, floats({1, 100, -3, 0.5f})), "element 3 is 0.5, not 0");
  EXPECT_EQ(Difference(expected, floats({1, 101, -3, 0})), "element 1 is 101, not 100");
  EXPECT_NE(Difference(expected, floats({1, NAN, -3, 0})), "");
  EXPECT_NE(Difference(expected, floats({1, 100, -3, INFINITY})), "");
  EXPECT_EQ(Difference(floats({NAN, INFINITY}), floats({-NAN, INFINITY})), "");
  EXPECT_NE(Difference(floats({INFINITY}), floats({-INFINITY})), "");
}

TEST(Compare, IntegersMayNot) {
  const auto ints = [](std::vector<int64_t> v) { return TensorOf(ElementType::kI64, v); };
  EXPECT_EQ(Difference(ints({5, 1000000}), ints({5, 1000000})), "");
  EXPECT_EQ(Difference(ints({5, 1000000}), ints({5, 1000001})),
            "element 1 is 1000001, not 1000000");
  EXPECT_NE(Difference(ints({int64_t{1} << 60}), ints({(int64_t{1} << 60) + 1})), "");
}

Measurement MakeMeasurement(const std::string& kernel, const std::string& key,
                            const std::string& directives, double share, Outcome outcome) {
  return {kernel, "t", "d", key, directives, outcome, 1, share, 1, ""};
}

TEST(Record, KeepsWhatWasMeasuredLast) {
  MemoryRecord record;
  const std::string a = "000000000000000a", b = "000000000000000b";
  const auto add = [&](const Measurement& m) { EXPECT_TRUE(record.Add(m).ok()); };
  add(MakeMeasurement(a, a, "loop(i0)", 0.5, Outcome::kMeasured));
  add(MakeMeasurement(a, a, "loop(i0)", 0.9, Outcome::kMeasured));
  add(MakeMeasurement(a, b, "loop(i1)", 0.8, Outcome::kConfirmed));
  add(MakeMeasurement(a, b, "loop(i2)", 0.1, Outcome::kDiffers));
  add(MakeMeasurement(a, b, "loop(i3)", 0.2, Outcome::kNoGain));
  add(MakeMeasurement(b, b, "loop(i0)", 0.99, Outcome::kConfirmed));
  EXPECT_EQ(record.Of(a, "t", "d")->size(), 4u);
  EXPECT_EQ(record.Of(a, "t", "other")->size(), 0u);
  EXPECT_EQ(record.All()->size(), 5u);
  // One schedule a kernel, of a form that is right, and only where it gains in the model.
  const auto best = BestSchedules(*record.All());
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].key, b);
  EXPECT_EQ(schedule::DirectivesText(best[0].directives), "loop(i1)");
}

TEST(Record, LinesAddToAnother) {
  MemoryRecord from, to;
  const auto add = [](MemoryRecord& record, const Measurement& m) {
    EXPECT_TRUE(record.Add(m).ok());
  };
  add(from, MakeMeasurement("a", "a", "loop(i0)", 0.5, Outcome::kMeasured));
  add(from, MakeMeasurement("a", "a", "loop(i1)", 0.25, Outcome::kConfirmed));
  Measurement hung = MakeMeasurement("b", "c", "-", 0, Outcome::kHung);
  hung.what = "no \"answer\"\n";
  add(from, hung);
  EXPECT_TRUE(from.AddKernel({"a", "name", "tg 1\n"}).ok());
  // What was compared in a model stays, and replaces what was not.
  add(to, MakeMeasurement("a", "a", "loop(i0)", 0.6, Outcome::kNoGain));
  add(to, MakeMeasurement("a", "a", "loop(i1)", 0.3, Outcome::kMeasured));
  const auto lines = RecordLines(from);
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(AddLines(*lines, to).ok());
  const std::vector<Measurement> all = *to.All();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].outcome, Outcome::kNoGain);
  EXPECT_EQ(all[0].seconds, 0.6);
  EXPECT_EQ(all[1].outcome, Outcome::kConfirmed);
  EXPECT_EQ(all[1].seconds, 0.25);
  EXPECT_EQ(all[2].what, hung.what);
  EXPECT_EQ(all[2].outcome, Outcome::kHung);
  EXPECT_EQ((*to.Kernels())[0].module, "tg 1\n");
  EXPECT_FALSE(AddLines("nonsense\n", to).ok());
  EXPECT_FALSE(AddLines("{\"outcome\": \"fine\"}\n", to).ok());
}

constexpr char kProduct[] = R"(tg 1
module @m {target = "cl-cpu"}
buffer @a : f32[128, 1, 128] input
buffer @b : f32[1, 128, 128] input
buffer @y : f32[128, 128, 1] output

graph @main {
  %a = buffer @a : f32
  %0 = expand %a {shape = [128, 128, 128]} : f32
  %b = buffer @b : f32
  %1 = expand %b {shape = [128, 128, 128]} : f32
  %2 = mul %0, %1 : f32
  %3 = reduce_axis %2 {op = add, axes = [2]} : f32
  sink %3 -> @y
}
)";

// The product of these rows, columns and terms by the passes of a target, the first `passes` ones.
std::unique_ptr<Module> Product(const std::string& size, const passes::Target& target,
                                size_t passes) {
  Diagnostics diagnostics;
  auto module = ParseModule(absl::StrReplaceAll(kProduct, {{"128", size}}), "m", diagnostics);
  EXPECT_TRUE(module != nullptr) << diagnostics.ToString();
  passes::PassManagerOptions options;
  options.target = &target;
  passes::Pipeline pipeline = passes::MakePipeline(passes::kPipeline);
  pipeline.resize(passes);
  if (module) {
    EXPECT_TRUE(passes::PassManager(pipeline, options).Run(*module).ok());
  }
  return module;
}

TEST(Space, OffersLegalSchedulesOnce) {
  for (const char* target_name : {"cl-cpu", "cl-nvidia-sm90"}) {
    SCOPED_TRACE(target_name);
    const passes::Target target = *passes::FindTarget(target_name);
    const std::unique_ptr<Module> module = Product("128", target, 1);
    ASSERT_TRUE(module != nullptr);
    const KernelCalls calls(*module);
    Space space(*module, calls, *module->kernels[0], target);
    std::vector<Candidate> candidates = space.Considered();
    EXPECT_GT(candidates.size(), 2u);
    std::set<std::string> texts = {space.KeyOf(space.first()) +
                                   schedule::DirectivesText(space.first().directives)};
    for (int round = 0; round < 2; ++round) {
      for (size_t i = 0; i < candidates.size(); ++i) {
        const Candidate& c = candidates[i];
        EXPECT_GT(c.predicted_seconds, 0);
        if (i > 0) {
          EXPECT_GE(c.predicted_seconds, candidates[i - 1].predicted_seconds);
        }
        EXPECT_TRUE(texts.insert(space.KeyOf(c) + schedule::DirectivesText(c.directives)).second);
      }
      candidates = space.Neighbours(space.first());
      if (round == 0) {
        EXPECT_GT(candidates.size(), 5u);
      }
    }
    EXPECT_TRUE(space.Neighbours(space.first()).empty());
  }
}

// Two rules for units write the same body of a product, so that one form has the schedules of both.
TEST(Space, FirstIsWhatThePassChooses) {
  for (const char* target_name : {"cl-cpu", "cl-nvidia-sm90", "cl-adreno"}) {
    SCOPED_TRACE(target_name);
    const passes::Target target = *passes::FindTarget(target_name);
    const auto module = Product("512", target, 1), scheduled = Product("512", target, 2);
    ASSERT_TRUE(module != nullptr && scheduled != nullptr);
    const KernelCalls calls(*module);
    const Space space(*module, calls, *module->kernels[0], target);
    const std::string chosen = schedule::DirectivesText(scheduled->kernels[0]->directives);
    EXPECT_NE(chosen, "");
    EXPECT_EQ(schedule::DirectivesText(space.first().directives), chosen);
  }
}

}  // namespace
}  // namespace tg::search
