// Prints what a template makes of each case of a JSON file, as a JSON list of texts: the side of tg
// in comparisons with Python's jinja2. A case that fails is null, and standard error says why.
//
//   render TEMPLATE CASES.json
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "frontend/tokenizer/jinja/program.h"
#include "frontend/tokenizer/testing/json_value.h"
#include "llvm/Support/raw_ostream.h"

namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "render TEMPLATE CASES.json\n";
    return 1;
  }
  const auto program = tg::jinja::Program::Parse(ReadFile(argv[1]));
  if (!program.ok()) {
    std::cerr << argv[1] << ": " << program.status().message() << "\n";
    return 1;
  }
  auto cases = llvm::json::parse(ReadFile(argv[2]));
  if (!cases || cases->getAsArray() == nullptr) {
    if (!cases) llvm::consumeError(cases.takeError());
    std::cerr << argv[2] << ": no JSON list\n";
    return 1;
  }
  llvm::json::Array texts;
  for (const llvm::json::Value& variables : *cases->getAsArray()) {
    const auto text = (*program)->Render(tg::jinja::FromJson(variables), 0);
    if (text.ok()) {
      texts.push_back(*text);
    } else {
      std::cerr << argv[1] << ", case " << texts.size() << ": " << text.status().message() << "\n";
      texts.push_back(nullptr);
    }
  }
  llvm::outs() << llvm::json::Value(std::move(texts)) << "\n";
  return 0;
}
