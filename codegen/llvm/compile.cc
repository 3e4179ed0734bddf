// libtg_codegen.so: machine code by LLVM (compile_interface.h).
//
// The renderer's text is vectorized, unrolled and scheduled, so few passes pay: SROA promotes
// register scratch, early CSE and instcombine clean up addresses and gates. LLVM's middle end would
// take several times as long.
#include <memory>
#include <string>

#include "codegen/llvm/compile_interface.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar.h"
#if LLVM_VERSION_MAJOR >= 16
#include "llvm/TargetParser/Host.h"
#else
#include "llvm/Support/Host.h"
#endif

namespace {

#if LLVM_VERSION_MAJOR >= 18
constexpr auto kOptLevel = llvm::CodeGenOptLevel::Default;
constexpr auto kObject = llvm::CodeGenFileType::ObjectFile;
constexpr auto kAssembly = llvm::CodeGenFileType::AssemblyFile;
#else
constexpr auto kOptLevel = llvm::CodeGenOpt::Default;
constexpr auto kObject = llvm::CGFT_ObjectFile;
constexpr auto kAssembly = llvm::CGFT_AssemblyFile;
#endif

// The features of this machine as LLVM writes them.
std::string HostFeatures() {
#if LLVM_VERSION_MAJOR >= 19
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
#else
  llvm::StringMap<bool> features;
  llvm::sys::getHostCPUFeatures(features);
#endif
  std::string text;
  for (const auto& feature : features) {
    text +=
        (text.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  }
  return text;
}

void Initialize() {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // In the order of the text, the loads of all terms of an unrolled loop come before their
    // multiply-adds, and do not fit into registers.
    const char* const options[] = {"codegen", "-pre-RA-sched=list-ilp"};
    llvm::cl::ParseCommandLineOptions(2, options);
    return true;
  }();
  (void)once;
}

// Writes addresses at constant distances in bytes. LLVM's loop strength reduction looks for an
// address that is computed already by its base and index, and LLVM 14 does not compare the type
// that the index counts.
void CountInBytes(llvm::Module& module) {
  llvm::SmallVector<llvm::GetElementPtrInst*, 32> found;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
        if (address && address->getNumIndices() == 1 && address->hasAllConstantIndices()) {
          found.push_back(address);
        }
      }
    }
  }
  llvm::Type* const byte = llvm::Type::getInt8Ty(module.getContext());
  for (llvm::GetElementPtrInst* address : found) {
    llvm::APInt bytes(module.getDataLayout().getIndexTypeSizeInBits(address->getType()), 0);
    if (!address->accumulateConstantOffset(module.getDataLayout(), bytes)) continue;
    auto* same = llvm::GetElementPtrInst::Create(byte, address->getPointerOperand(),
                                                 llvm::ConstantInt::get(module.getContext(), bytes),
                                                 "", address);
    same->setIsInBounds(address->isInBounds());
    address->replaceAllUsesWith(same);
    address->eraseFromParent();
  }
}

// Returns an error message, or "".
std::string Compile(const TgCodegenRequest& request, llvm::SmallVectorImpl<char>& out) {
  Initialize();
  llvm::LLVMContext context;
#if LLVM_VERSION_MAJOR < 15
  context.enableOpaquePointers();
#endif
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssembly(
      llvm::MemoryBufferRef(llvm::StringRef(request.text, request.size), "kernel"), diagnostic,
      context);
  std::string message;
  llvm::raw_string_ostream messages(message);
  if (module == nullptr) {
    diagnostic.print("llvm", messages, /*ShowColors=*/false);
    return messages.str();
  }
  if (llvm::verifyModule(*module, &messages)) return "llvm: " + messages.str();

  const std::string name = llvm::sys::getProcessTriple();
#if LLVM_VERSION_MAJOR >= 21
  const llvm::Triple triple(name);
  module->setTargetTriple(triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
#else
  const std::string& triple = name;
  module->setTargetTriple(triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
#endif
  if (target == nullptr) return "llvm: " + message;
  const std::string processor =
      request.processor ? request.processor : llvm::sys::getHostCPUName().str();
  const std::string features = request.features ? request.features : HostFeatures();
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, processor, features, llvm::TargetOptions(),
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, kOptLevel));
  if (machine == nullptr) return "llvm: there is no code generator for " + name;
  module->setDataLayout(machine->createDataLayout());

  llvm::legacy::PassManager rewrites, passes;
  // Without it, masked accesses are taken as illegal, and cut to elements.
  rewrites.add(llvm::createTargetTransformInfoWrapperPass(machine->getTargetIRAnalysis()));
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine->getTargetIRAnalysis()));
  // Loops that the text names.
  rewrites.add(llvm::createLoopUnrollPass(/*OptLevel=*/2, /*OnlyWhenForced=*/true));
  rewrites.add(llvm::createSROAPass());
  rewrites.add(llvm::createEarlyCSEPass());
  rewrites.add(llvm::createInstructionCombiningPass());
  rewrites.run(*module);
  CountInBytes(*module);
  llvm::raw_svector_ostream stream(out);
  if (machine->addPassesToEmitFile(passes, stream, nullptr, request.assembly ? kAssembly : kObject,
                                   /*DisableVerify=*/true)) {
    return "llvm: there is no writer of object files for " + name;
  }
  passes.run(*module);
  return "";
}

}  // namespace

int tg_codegen_compile(const TgCodegenRequest* request, TgCodegenSink sink, void* context) {
  llvm::SmallString<0> out;
  const std::string message = Compile(*request, out);
  if (message.empty()) {
    sink(context, out.data(), out.size());
    return 0;
  }
  sink(context, message.data(), message.size());
  return 1;
}

int32_t tg_codegen_version() { return kTgCodegenVersion; }
