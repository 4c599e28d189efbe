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

// An attribute of a kernel: its form, its number, and a value or the length of what follows.
struct Attribute {
  std::uint8_t form = 0;
  std::uint8_t number = 0;
  std::uint16_t value = 0;
};

constexpr std::uint8_t kHasBytes = 4;
constexpr std::uint8_t kParameter = 0x17;

struct Parameter {
  std::uint32_t index = 0;
  std::uint16_t ordinal = 0;
  std::uint16_t offset = 0;
  std::uint32_t fields = 0;  // the size in the upper 14 bits
};

constexpr int kSizeShift = 18;
constexpr std::size_t kMostParameters = 4096;

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

absl::StatusOr<std::vector<std::int64_t>> parameter_bytes(std::span<const std::byte> cubin,
                                                          std::string_view kernel) {
  ASSAY_ASSIGN_OR_RETURN(const ElfFile file, ElfFile::parse(cubin));
  const std::string wanted = absl::StrCat(".nv.info.", std::string(kernel));
  const auto found = std::ranges::find(file.sections(), wanted, &ElfSection::name);
  if (found == file.sections().end()) {
    return absl::NotFoundError(
        absl::StrCat("no parameters of the kernel `", std::string(kernel), "`"));
  }
  ASSAY_ASSIGN_OR_RETURN(auto bytes, file.bytes_of(*found));
  std::vector<std::int64_t> sizes;
  while (bytes.size() >= sizeof(Attribute)) {
    const auto attribute = elf_record<Attribute>(bytes, 0);
    bytes = bytes.subspan(sizeof(Attribute));
    const std::size_t length = attribute.form == kHasBytes ? attribute.value : 0;
    if (length > bytes.size()) {
      return absl::InvalidArgumentError("ELF: an attribute of a kernel is cut off");
    }
    if (attribute.number == kParameter && length >= sizeof(Parameter)) {
      const auto parameter = elf_record<Parameter>(bytes, 0);
      if (parameter.ordinal >= kMostParameters) {
        return absl::InvalidArgumentError("ELF: a kernel has too many parameters");
      }
      sizes.resize(std::max<std::size_t>(sizes.size(), parameter.ordinal + 1U));
      sizes[parameter.ordinal] = parameter.fields >> kSizeShift;
    }
    bytes = bytes.subspan(length);
  }
  return sizes;
}

}  // namespace assay::profiler
