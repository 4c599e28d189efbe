#include "profiler/cubin.h"

#include "profiler/elf_file.h"
#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::profiler {
namespace {

// In a symbol's `other`: a kernel, not a function that kernels call.
constexpr unsigned char kEntry = 0x10;

constexpr int kFirstReserving = 90;
constexpr std::int64_t kReservedBytes = 1024;

bool reserves_shared_memory(std::string_view architecture) {
  int number = 0;
  return architecture.starts_with("sm_") &&
         absl::SimpleAtoi(std::string(architecture.substr(3)), &number) &&
         number >= kFirstReserving;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> kernels_of(std::span<const std::byte> cubin) {
  ASSAY_ASSIGN_OR_RETURN(const ElfFile file, ElfFile::parse(cubin));
  std::vector<std::string> names;
  for (const ElfSection& section : file.sections()) {
    if (section.header.sh_type != SHT_SYMTAB) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto bytes, file.bytes_of(section));
    for (std::size_t i = 0; i < bytes.size() / sizeof(Elf64_Sym); ++i) {
      const auto symbol = elf_record<Elf64_Sym>(bytes, i);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kEntry) != 0 &&
          symbol.st_shndx != SHN_UNDEF) {
        ASSAY_ASSIGN_OR_RETURN(const std::string_view name, file.symbol_name(section, i));
        names.emplace_back(name);
      }
    }
  }
  std::ranges::sort(names);
  return names;
}

absl::StatusOr<std::int64_t> static_shared_bytes(std::span<const std::byte> cubin,
                                                 std::string_view kernel,
                                                 std::string_view architecture) {
  ASSAY_ASSIGN_OR_RETURN(const ElfFile file, ElfFile::parse(cubin));
  const std::string wanted = absl::StrCat(".nv.shared.", std::string(kernel));
  const auto found = std::ranges::find(file.sections(), wanted, &ElfSection::name);
  if (found == file.sections().end()) {
    return 0;
  }
  const auto size = static_cast<std::int64_t>(found->header.sh_size);
  return reserves_shared_memory(architecture) ? std::max(size - kReservedBytes, std::int64_t{0})
                                              : size;
}

}  // namespace assay::profiler
