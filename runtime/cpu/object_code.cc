#include "runtime/cpu/object_code.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/status.h"

namespace tg::cpu {
namespace {

absl::Status Damaged(std::string_view what) {
  return InvalidArgument("the object file is damaged: ", what);
}

// Functions that an object may call.
const void* Library(std::string_view name) {
  const auto address = [](auto* function) { return reinterpret_cast<const void*>(function); };
  if (name == "memcpy") return address(&memcpy);
  if (name == "memmove") return address(&memmove);
  if (name == "memset") return address(&memset);
  if (name == "fma") return address(static_cast<double (*)(double, double, double)>(&std::fma));
  if (name == "fmaf") return address(static_cast<float (*)(float, float, float)>(&std::fma));
  return nullptr;
}

size_t AlignedTo(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// An indirect jump through the word behind it, and a word with an address.
constexpr size_t kStubBytes = 16;

}  // namespace

class ObjectLoader {
 public:
  explicit ObjectLoader(std::string_view object) : object_(object) {}

  absl::StatusOr<std::shared_ptr<const ObjectCode>> Run() {
    TG_RETURN_IF_ERROR(ReadHeaders());
    TG_RETURN_IF_ERROR(Place());
    TG_RETURN_IF_ERROR(Relocate());
    for (const auto& [begin, end, protection] : segments_) {
      if (end > begin && mprotect(code_->memory_ + begin, end - begin, protection) != 0) {
        return absl::InternalError(Cat("machine code cannot be protected: ", strerror(errno)));
      }
    }
    return std::shared_ptr<const ObjectCode>(std::move(code_));
  }

 private:
  struct Segment {
    size_t begin, end;
    int protection;
  };

  static bool HasBytes(const Elf64_Shdr& s) {
    return s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL;
  }

  // The `count` structs at an offset; none if they are not all in the file.
  template <typename T>
  std::vector<T> Read(uint64_t offset, uint64_t count) const {
    if (offset > object_.size() || count > (object_.size() - offset) / sizeof(T)) return {};
    std::vector<T> all(count);
    if (count > 0) std::memcpy(all.data(), object_.data() + offset, count * sizeof(T));
    return all;
  }

  // The text at an offset of a section with names.
  absl::StatusOr<std::string> Name(const Elf64_Shdr& names, uint64_t at) const {
    if (at >= names.sh_size) return Damaged("a name is outside of its section");
    const std::string_view all = object_.substr(names.sh_offset, names.sh_size);
    const size_t end = all.find('\0', at);
    if (end == std::string_view::npos) return Damaged("a name has no end");
    return std::string(all.substr(at, end - at));
  }

  absl::Status ReadHeaders() {
    const auto header = Read<Elf64_Ehdr>(0, 1);
    if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_machine != EM_X86_64 ||
        header[0].e_type != ET_REL || header[0].e_shentsize != sizeof(Elf64_Shdr)) {
      return Damaged("its head is not that of an object for this machine");
    }
    sections_ = Read<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
    if (sections_.empty()) return Damaged("it has no sections");
    for (const Elf64_Shdr& s : sections_) {
      if (HasBytes(s) &&
          (s.sh_offset > object_.size() || s.sh_size > object_.size() - s.sh_offset)) {
        return Damaged("a section is outside of it");
      }
      if (s.sh_addralign > 4096 || (s.sh_addralign & (s.sh_addralign - 1)) != 0 ||
          s.sh_size > (uint64_t{1} << 30)) {
        return Damaged("a section is too large");
      }
    }
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_SYMTAB) continue;
      if (s.sh_link >= sections_.size() || sections_[s.sh_link].sh_type != SHT_STRTAB)
        return Damaged("its symbols have no names");
      symbols_ = Read<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
      names_ = &sections_[s.sh_link];
    }
    if (symbols_.empty()) return Damaged("it has no symbols");
    return absl::OkStatus();
  }

  // Code first, with the stubs of calls to libc; then constants; then data.
  absl::Status Place() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    address_of_.assign(sections_.size(), SIZE_MAX);
    size_t size = 0;
    const auto place = [&](uint64_t flags, int protection) {
      const size_t begin = size;
      for (size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& s = sections_[i];
        constexpr uint64_t kKinds = SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE;
        if ((s.sh_flags & kKinds) != flags) continue;
        size = AlignedTo(size, std::max<size_t>(s.sh_addralign, 1));
        address_of_[i] = size;
        size += s.sh_size;
      }
      if (flags & SHF_EXECINSTR) {
        stubs_ = size = AlignedTo(size, kStubBytes);
        size += symbols_.size() * kStubBytes;
      }
      size = AlignedTo(size, page);
      segments_.push_back({begin, size, protection});
    };
    place(SHF_ALLOC | SHF_EXECINSTR, PROT_READ | PROT_EXEC);
    place(SHF_ALLOC, PROT_READ);
    place(SHF_ALLOC | SHF_WRITE, PROT_READ | PROT_WRITE);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return absl::ResourceExhaustedError(Cat("no memory for ", size, " bytes of machine code"));
    }
    code_.reset(new ObjectCode);
    code_->memory_ = static_cast<std::byte*>(memory);
    code_->size_ = size;
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (address_of_[i] == SIZE_MAX || !HasBytes(sections_[i])) continue;
      std::memcpy(code_->memory_ + address_of_[i], object_.data() + sections_[i].sh_offset,
                  sections_[i].sh_size);
    }
    for (const Elf64_Sym& symbol : symbols_) {
      if (ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL || symbol.st_shndx == SHN_UNDEF) continue;
      TG_ASSIGN_OR_RETURN(const std::string name, Name(*names_, symbol.st_name));
      TG_ASSIGN_OR_RETURN(code_->functions_[name], AddressOf(symbol));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::byte*> AddressOf(const Elf64_Sym& symbol) const {
    const size_t section = symbol.st_shndx;
    if (section >= sections_.size() || address_of_[section] == SIZE_MAX ||
        symbol.st_value > sections_[section].sh_size) {
      return Damaged("a symbol is outside of its section");
    }
    return code_->memory_ + address_of_[section] + symbol.st_value;
  }

  // A stub that jumps to a function of libc.
  absl::StatusOr<std::byte*> StubOf(size_t symbol) {
    TG_ASSIGN_OR_RETURN(const std::string name, Name(*names_, symbols_[symbol].st_name));
    const void* function = Library(name);
    if (function == nullptr) return InvalidArgument("machine code calls ", name);
    std::byte* stub = code_->memory_ + stubs_ + symbol * kStubBytes;
    constexpr unsigned char kJump[] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x0f, 0x0b};
    std::memcpy(stub, kJump, sizeof kJump);
    std::memcpy(stub + 8, &function, sizeof function);
    return stub;
  }

  absl::Status Relocate() {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type == SHT_REL) return Damaged("it has relocations of another kind");
      if (s.sh_type != SHT_RELA || s.sh_info >= sections_.size()) continue;
      const Elf64_Shdr& target = sections_[s.sh_info];
      if (address_of_[s.sh_info] == SIZE_MAX) continue;
      for (const Elf64_Rela& r : Read<Elf64_Rela>(s.sh_offset, s.sh_size / sizeof(Elf64_Rela))) {
        const size_t symbol = ELF64_R_SYM(r.r_info);
        const auto type = ELF64_R_TYPE(r.r_info);
        const size_t bytes = type == R_X86_64_64 ? 8 : 4;
        if (symbol >= symbols_.size() || target.sh_size < bytes ||
            r.r_offset > target.sh_size - bytes) {
          return Damaged("a relocation is outside of its section");
        }
        TG_ASSIGN_OR_RETURN(std::byte * to, symbols_[symbol].st_shndx == SHN_UNDEF
                                                ? StubOf(symbol)
                                                : AddressOf(symbols_[symbol]));
        std::byte* at = code_->memory_ + address_of_[s.sh_info] + r.r_offset;
        const int64_t absolute = reinterpret_cast<int64_t>(to) + r.r_addend;
        const int64_t relative = absolute - reinterpret_cast<int64_t>(at);
        if (type == R_X86_64_64) {
          std::memcpy(at, &absolute, 8);
        } else if ((type == R_X86_64_PC32 || type == R_X86_64_PLT32) &&
                   relative == static_cast<int32_t>(relative)) {
          const auto word = static_cast<int32_t>(relative);
          std::memcpy(at, &word, 4);
        } else {
          return InvalidArgument("machine code has a relocation of type ", type);
        }
      }
    }
    return absl::OkStatus();
  }

  const std::string_view object_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  const Elf64_Shdr* names_ = nullptr;
  std::vector<size_t> address_of_;  // by section: its offset in memory; SIZE_MAX: not loaded
  size_t stubs_ = 0;                // offset of the stubs, one for each symbol
  std::vector<Segment> segments_;
  std::unique_ptr<ObjectCode> code_;
};

absl::StatusOr<std::shared_ptr<const ObjectCode>> ObjectCode::Load(std::string_view object) {
  return ObjectLoader(object).Run();
}

ObjectCode::~ObjectCode() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

const void* ObjectCode::Find(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

}  // namespace tg::cpu
