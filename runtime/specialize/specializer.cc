#include "runtime/specialize/specializer.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "passes/pass_manager.h"
#include "runtime/base/spans.h"
#include "runtime/session/open_devices.h"
#include "runtime/session/session.h"
#include "runtime/specialize/bind_sizes.h"

namespace tg::specialize {

using runtime::DeviceSession;
using runtime::VarMap;

namespace {

constexpr int64_t kMostRunsAsked = 1024;

// Runs of other threads come first.
void LowerPriority() {
  constexpr int kNice = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
}

// Ends the passes when nobody waits for their result any more.
class Canceller : public passes::PassObserver {
 public:
  Canceller(std::mutex& mutex, const bool& is_ending) : mutex_(mutex), is_ending_(is_ending) {}
  absl::Status BeforePass(const passes::PassRun&, const Module&) override {
    const std::lock_guard lock(mutex_);
    return is_ending_ ? absl::CancelledError("the session has ended") : absl::OkStatus();
  }

 private:
  std::mutex& mutex_;
  const bool& is_ending_;
};

bool IsOpen(const VarDecl& var) { return var.min < var.max; }

}  // namespace

std::shared_ptr<Specializer> Specializer::Create(const Module& module,
                                                 const passes::Pipeline& pipeline,
                                                 const runtime::DeviceSessionOptions& session,
                                                 SpecializeOptions options) {
  if (std::none_of(module.vars.begin(), module.vars.end(), IsOpen) || !session.others.empty() ||
      session.observer != nullptr || options.max_sessions == 0) {
    return nullptr;
  }
  // PoCL compiles at the first launch, where the run would wait for it, unless processes compile
  // ahead.
  const runtime::DeviceInfo& device = session.context->info();
  if (device.is_pocl && (session.cache == nullptr || session.ahead.worker.empty())) return nullptr;
  return std::shared_ptr<Specializer>(new Specializer(module, pipeline, session, options));
}

Specializer::Specializer(const Module& module, passes::Pipeline pipeline,
                         const runtime::DeviceSessionOptions& session, SpecializeOptions options)
    : module_(Clone(module)),
      pipeline_(std::move(pipeline)),
      session_options_(session),
      options_(options),
      min_runs_(options.min_runs) {
  for (const BufferDecl& buffer : module_->buffers) declared_.push_back(buffer.name);
  session_options_.shared_buffers = declared_;
  session_options_.chooser = nullptr;
  session_options_.spans = nullptr;
  session_options_.on_upload = nullptr;
  session_options_.ahead.progress = nullptr;
  for (runtime::GraphNeeds& graph : runtime::NeedsOfGraphs(*module_)) {
    needs_.emplace(std::move(graph.name), std::move(graph.needs));
  }
}

Specializer::~Specializer() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    queued_.reset();
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

Specializer::Key Specializer::KeyOf(const std::string& graph, const VarMap& vars) const {
  Key key{graph, {}};
  const auto needs = needs_.find(graph);
  if (needs == needs_.end()) return key;
  for (const auto& [name, value] : vars) {
    if (module_->FindVar(name) != nullptr && needs->second.Uses(name)) key.second[name] = value;
  }
  return key;
}

Specializer::Entry& Specializer::Find(const std::string& graph, const VarMap& vars) {
  if (last_ == nullptr || graph != last_graph_ || vars != last_vars_) {
    last_graph_ = graph;
    last_vars_ = vars;
    last_ = &*sizes_.try_emplace(KeyOf(graph, vars)).first;
    // Without an open variable there is nothing to specialize.
    auto& [key, size] = *last_;
    size.is_open = std::any_of(key.second.begin(), key.second.end(), [&](const auto& var) {
      return IsOpen(*module_->FindVar(var.first));
    });
  }
  return *last_;
}

void Specializer::Erase(std::map<Key, Size>::iterator at) {
  if (&*at == last_) last_ = nullptr;
  if (&*at == chosen_) chosen_ = nullptr;
  sizes_.erase(at);
}

bool Specializer::MayCompile(const Size& size) const {
  return size.state == State::kCounted && size.runs >= min_runs_ && !queued_ && !is_compiling_ &&
         (!options_.budget || stats_.compile_seconds <= run_seconds_);
}

Specializer::Entry* Specializer::FindWhatStays(const Key& key) {
  const auto [last, is_first] = last_sizes_.try_emplace(key.first, key.second);
  if (is_first || last->second == key.second) return nullptr;
  Key what{key.first, {}};
  bool is_open = false;
  for (const auto& [name, value] : key.second) {
    const auto before = last->second.find(name);
    if (before == last->second.end() || before->second != value) continue;
    what.second[name] = value;
    is_open |= IsOpen(*module_->FindVar(name));
  }
  last->second = key.second;
  return is_open ? &*sizes_.try_emplace(std::move(what)).first : nullptr;
}

void Specializer::Count(Entry& entry, std::unique_lock<std::mutex>& lock) {
  auto& [key, size] = entry;
  size.last_used = ++clock_;
  ++size.runs;
  if (!MayCompile(size)) return;
  size.state = State::kQueued;
  queued_ = key;
  if (!worker_.joinable()) worker_ = std::thread(&Specializer::Work, this);
  changed_.notify_all();
  if (options_.wait) {
    changed_.wait(lock,
                  [&] { return size.state == State::kReady || size.state == State::kFailed; });
  }
}

Specializer::Entry* Specializer::FindReady(const Key& key) {
  const auto is_part = [&](const VarMap& vars) {
    return std::all_of(vars.begin(), vars.end(), [&](const auto& var) {
      const auto its = key.second.find(var.first);
      return its != key.second.end() && its->second == var.second;
    });
  };
  Entry* best = nullptr;
  for (Entry& entry : sizes_) {
    const auto& [other, size] = entry;
    if (size.state != State::kReady || other.first != key.first || !is_part(other.second)) continue;
    if (!best || other.second.size() > best->first.second.size()) best = &entry;
  }
  return best;
}

DeviceSession* Specializer::Choose(const std::string& graph, const VarMap& vars) {
  std::unique_lock lock(mutex_);
  chosen_ = nullptr;
  Entry& entry = Find(graph, vars);
  const auto& [key, size] = entry;
  if (!size.is_open) return nullptr;
  Count(entry, lock);
  Entry* part = FindWhatStays(key);
  // What is compiled for the whole size needs no other plan.
  if (part && (size.state == State::kCounted || size.state == State::kFailed)) Count(*part, lock);
  // Sizes that came long ago are forgotten.
  while (sizes_.size() > options_.max_counted_sizes) {
    auto oldest = sizes_.end();
    for (auto at = sizes_.begin(); at != sizes_.end(); ++at) {
      const bool may_go = at->first != key && (at->second.state == State::kCounted ||
                                               at->second.state == State::kFailed);
      if (may_go && (oldest == sizes_.end() || at->second.last_used < oldest->second.last_used)) {
        oldest = at;
      }
    }
    if (oldest == sizes_.end()) break;
    Erase(oldest);
  }
  for (auto& [other, its] : sizes_) {
    if (its.state == State::kFailed) its.session = nullptr;
  }
  chosen_ = size.state == State::kReady ? &entry : FindReady(key);
  if (!chosen_) return nullptr;
  chosen_->second.last_used = ++clock_;
  Drop(chosen_->first);
  return chosen_->second.session.get();
}

size_t Specializer::SessionBytes() const {
  size_t sum = 0;
  for (const auto& [key, size] : sizes_) {
    if (size.session != nullptr) sum += size.session->memory().in_use_bytes;
  }
  return sum;
}

void Specializer::Drop(const Key& in_use) {
  while (true) {
    size_t count = 0;
    auto oldest = sizes_.end();
    for (auto at = sizes_.begin(); at != sizes_.end(); ++at) {
      if (at->second.session == nullptr) continue;
      ++count;
      if (at->first == in_use) continue;
      if (oldest == sizes_.end() || at->second.last_used < oldest->second.last_used) oldest = at;
    }
    if (oldest == sizes_.end()) return;
    if (count <= options_.max_sessions && SessionBytes() <= options_.max_bytes) return;
    // A compile that paid for few runs was not worth it: sizes have to come more often from now on.
    if (oldest->second.own_runs < 2 * min_runs_) {
      min_runs_ = std::min(2 * min_runs_, kMostRunsAsked);
    }
    ++stats_.dropped;
    Erase(oldest);
  }
}

void Specializer::Refused(const std::string&, const VarMap&, const absl::Status& why) {
  const std::lock_guard lock(mutex_);
  TG_CHECK(chosen_ != nullptr);
  Size& size = chosen_->second;
  size.state = State::kFailed;
  size.session = nullptr;
  ++stats_.failed;
  stats_.last_error = std::string(why.message());
}

void Specializer::Ran(const std::string&, const VarMap&, DeviceSession* chosen, double seconds) {
  const std::lock_guard lock(mutex_);
  run_seconds_ += seconds;
  last_was_own_ = chosen != nullptr;
  if (chosen == nullptr) {
    ++stats_.general_runs;
    return;
  }
  ++stats_.specialized_runs;
  TG_CHECK(chosen_ != nullptr);
  auto& [key, size] = *chosen_;
  ++size.own_runs;
  // The run has allocated its temporaries. Its session lives until the next run, since its plan may
  // be looked at.
  if (size.session->memory().in_use_bytes > options_.max_bytes) {
    size.state = State::kFailed;
    stats_.last_error = "a size takes more memory than all may have";
    ++stats_.failed;
  }
  Drop(key);
}

absl::StatusOr<std::unique_ptr<DeviceSession>> Specializer::Compile(const Key& key) const {
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, BindSizes(*module_, key.first, key.second));
  runtime::DeviceSessionOptions options = session_options_;
  passes::PassManagerOptions passes;
  passes.jobs = 1;
  Canceller canceller(mutex_, is_ending_);
  passes.observer = &canceller;
  TG_RETURN_IF_ERROR(runtime::CompileForDevices(*module, pipeline_, passes, options));
  for (const std::string& name : declared_) {
    const BufferDecl* buffer = module->FindBuffer(name);
    const BufferDecl* own = module_->FindBuffer(name);
    // Passes may store a buffer in another type, which the session does not know.
    if (buffer != nullptr && (buffer->dtype != own->dtype || buffer->role != own->role)) {
      return Unimplemented("buffer @", name, " of another type than in the general plan");
    }
  }
  return DeviceSession::Create(std::move(module), std::move(options));
}

void Specializer::Work() {
  LowerPriority();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_ending_ || queued_; });
    if (is_ending_) return;
    const Key key = *std::exchange(queued_, std::nullopt);
    sizes_[key].state = State::kCompiling;
    is_compiling_ = true;
    lock.unlock();
    const int64_t start = runtime::HostNanos();
    absl::StatusOr<std::unique_ptr<DeviceSession>> made = Compile(key);
    const double seconds = static_cast<double>(runtime::HostNanos() - start) * 1e-9;
    lock.lock();
    is_compiling_ = false;
    stats_.compile_seconds += seconds;
    Size& size = sizes_[key];
    if (made.ok()) {
      size.session = *std::move(made);
      size.state = State::kReady;
      ++stats_.compiled;
    } else {
      size.state = State::kFailed;
      ++stats_.failed;
      stats_.last_error = std::string(made.status().message());
    }
    changed_.notify_all();
  }
}

std::string Specializer::last_size() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  if (!last_was_own_ || chosen_ == nullptr) return text;
  for (const auto& [name, value] : chosen_->first.second) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " = ", value);
  }
  return text;
}

SpecializeStats Specializer::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace tg::specialize
