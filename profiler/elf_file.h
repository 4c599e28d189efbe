// A 64-bit little-endian ELF file in memory, read without trust: every offset, size and index is
// checked where it is used. Views live as long as the bytes.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <span>
#include <string_view>
#include <vector>

namespace assay::profiler {

struct ElfSection {
  Elf64_Shdr header = {};
  std::string_view name;
};

class ElfFile {
 public:
  // INVALID_ARGUMENT says what is malformed.
  static absl::StatusOr<ElfFile> parse(std::span<const std::byte> bytes);

  const std::vector<ElfSection>& sections() const { return sections_; }

  // INVALID_ARGUMENT when there is no such section.
  absl::StatusOr<const ElfSection*> section(std::size_t index) const;
  // Nothing for a section that takes no room in the file.
  absl::StatusOr<std::span<const std::byte>> bytes_of(const ElfSection& section) const;
  // The name of a symbol; of one without, as sections have, the name of its section.
  absl::StatusOr<std::string_view> symbol_name(const ElfSection& symbols, std::size_t index) const;

 private:
  explicit ElfFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  absl::Status read_sections();

  std::span<const std::byte> bytes_;
  std::vector<ElfSection> sections_;
};

// The `index`th Record of a section's bytes, which must hold it.
template <class Record>
Record elf_record(std::span<const std::byte> bytes, std::size_t index) {
  Record record;
  std::memcpy(&record, bytes.data() + index * sizeof(Record), sizeof(Record));
  return record;
}

}  // namespace assay::profiler
