#include "tools/bench/peers.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

extern char** environ;

namespace tg::bench {
namespace {

namespace json = llvm::json;

std::string TextOf(json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

json::Value ToJson(const Row& row) {
  json::Array operands;
  for (const Operand& operand : OperandsOf(row)) operands.push_back(operand.name);
  const ConvSizes& s = row.conv;
  return json::Object{{"name", row.name},
                      {"work", std::string(WorkName(row.work))},
                      {"type", std::string(GetScalarInfo(row.type).text)},
                      {"b_transposed", row.b_transposed},
                      {"operands", std::move(operands)},
                      {"epsilon", kLayerNormEpsilon},
                      {"stride", s.stride},
                      {"pad", s.pad},
                      {"groups", s.groups}};
}

absl::StatusOr<json::Value> Parse(const std::string& line) {
  llvm::Expected<json::Value> value = json::parse(line);
  if (!value) {
    return absl::InternalError(
        Cat("a peer's answer is no JSON: ", llvm::toString(value.takeError()), ": ", line));
  }
  const json::Object* object = value->getAsObject();
  if (object == nullptr) return absl::InternalError(Cat("a peer's answer is no object: ", line));
  if (const auto error = object->getString("error")) {
    return absl::InternalError(Cat("peers: ", error->str()));
  }
  return std::move(*value);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerProcess>> PeerProcess::Start(const std::string& python,
                                                                const std::string& script) {
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return absl::ResourceExhaustedError(std::strerror(errno));
  std::unique_ptr<PeerProcess> process(new PeerProcess());
  process->to_ = down[1];
  if (::pipe2(up, O_CLOEXEC) != 0) {
    ::close(down[0]);
    return absl::ResourceExhaustedError(std::strerror(errno));
  }
  process->from_ = up[0];
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
  const char* const argv[] = {python.c_str(), script.c_str(), nullptr};
  const int error = ::posix_spawnp(&process->pid_, python.c_str(), &actions, nullptr,
                                   const_cast<char* const*>(argv), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(down[0]);
  ::close(up[1]);
  if (error != 0) {
    process->pid_ = -1;
    return NotFound("cannot start ", python, ": ", std::strerror(error));
  }
  ::signal(SIGPIPE, SIG_IGN);  // a peer that has ended is an error of Ask
  TG_ASSIGN_OR_RETURN(const std::string line, process->ReadLine());
  TG_ASSIGN_OR_RETURN(const json::Value hello, Parse(line));
  if (const json::Array* peers = hello.getAsObject()->getArray("peers")) {
    for (const json::Value& value : *peers) {
      const json::Object* peer = value.getAsObject();
      if (peer == nullptr) continue;
      process->peers_.push_back({peer->getString("name").getValueOr("").str(),
                                 peer->getString("version").getValueOr("").str()});
    }
  }
  if (process->peers_.empty()) {
    return NotFound(python, " has no peer: numpy, onnxruntime, torch or tinygrad");
  }
  return process;
}

PeerProcess::~PeerProcess() {
  if (to_ >= 0) ::close(to_);  // the script ends with its input
  if (from_ >= 0) ::close(from_);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

absl::StatusOr<std::string> PeerProcess::ReadLine() {
  for (size_t end = 0; (end = buffered_.find('\n')) == std::string::npos;) {
    char bytes[4096];
    const ssize_t count = ::read(from_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return absl::UnavailableError("the process of the peers has ended");
    buffered_.append(bytes, static_cast<size_t>(count));
  }
  const size_t end = buffered_.find('\n');
  std::string line = buffered_.substr(0, end);
  buffered_.erase(0, end + 1);
  return line;
}

absl::StatusOr<std::string> PeerProcess::Ask(const std::string& request) {
  const std::string line = request + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(to_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return absl::UnavailableError("the process of the peers has ended");
    done += static_cast<size_t>(count);
  }
  return ReadLine();
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> PeerProcess::Open(
    const Row& row, const std::string& folder) {
  TG_ASSIGN_OR_RETURN(const std::string line,
                      Ask(TextOf(json::Object{{"open", ToJson(row)}, {"folder", folder}})));
  TG_ASSIGN_OR_RETURN(const json::Value answer, Parse(line));
  std::vector<std::pair<std::string, std::string>> results;
  const json::Object* files = answer.getAsObject()->getObject("results");
  for (const Peer& peer : peers_) {
    const auto file = files == nullptr ? llvm::None : files->getString(peer.name);
    if (file && !file->empty()) results.emplace_back(peer.name, file->str());
  }
  return results;
}

absl::StatusOr<double> PeerProcess::Run(const std::string& peer, int64_t times) {
  TG_ASSIGN_OR_RETURN(const std::string line,
                      Ask(TextOf(json::Object{{"run", peer}, {"times", times}})));
  TG_ASSIGN_OR_RETURN(const json::Value answer, Parse(line));
  const auto seconds = answer.getAsObject()->getNumber("seconds");
  if (!seconds) return absl::InternalError(Cat("peers: no seconds in ", line));
  return *seconds;
}

}  // namespace tg::bench
