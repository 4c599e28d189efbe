#include "profiler/elf_file.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>

namespace assay::profiler {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are read as they lie in memory");

absl::Status malformed(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("ELF: ", std::string(what)));
}

absl::StatusOr<std::span<const std::byte>> part(std::span<const std::byte> bytes,
                                                std::uint64_t offset,
                                                std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return malformed("a part lies beyond the end");
  }
  return bytes.subspan(offset, size);
}

absl::StatusOr<std::string_view> text_at(std::span<const std::byte> texts, std::uint64_t offset) {
  if (offset >= texts.size()) {
    return malformed("a name lies beyond its table");
  }
  const auto rest = texts.subspan(offset);
  const auto end = std::ranges::find(rest, std::byte{0});
  if (end == rest.end()) {
    return malformed("a name does not end");
  }
  return std::string_view(reinterpret_cast<const char*>(rest.data()),
                          static_cast<std::size_t>(end - rest.begin()));
}

}  // namespace

absl::StatusOr<ElfFile> ElfFile::parse(std::span<const std::byte> bytes) {
  ElfFile file(bytes);
  ASSAY_RETURN_IF_ERROR(file.read_sections());
  return file;
}

absl::Status ElfFile::read_sections() {
  ASSAY_ASSIGN_OR_RETURN(const auto start, part(bytes_, 0, sizeof(Elf64_Ehdr)));
  const auto file = elf_record<Elf64_Ehdr>(start, 0);
  if (std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
      file.e_ident[EI_DATA] != ELFDATA2LSB) {
    return malformed("not a 64-bit little-endian file");
  }
  if (file.e_shoff == 0 || file.e_shentsize != sizeof(Elf64_Shdr)) {
    return malformed("no section headers");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto first, part(bytes_, file.e_shoff, sizeof(Elf64_Shdr)));
  // Counts that do not fit in the file's header are in the first section's.
  const auto extension = elf_record<Elf64_Shdr>(first, 0);
  const std::uint64_t num_sections = file.e_shnum == 0 ? extension.sh_size : file.e_shnum;
  const std::uint64_t names_index =
      file.e_shstrndx == SHN_XINDEX ? extension.sh_link : file.e_shstrndx;
  if (num_sections > bytes_.size() / sizeof(Elf64_Shdr)) {
    return malformed("more section headers than bytes");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto headers,
                         part(bytes_, file.e_shoff, num_sections * sizeof(Elf64_Shdr)));
  for (std::size_t i = 0; i < num_sections; ++i) {
    sections_.push_back({.header = elf_record<Elf64_Shdr>(headers, i), .name = {}});
  }
  ASSAY_ASSIGN_OR_RETURN(const ElfSection* const names, section(names_index));
  ASSAY_ASSIGN_OR_RETURN(const auto texts, bytes_of(*names));
  for (ElfSection& section : sections_) {
    ASSAY_ASSIGN_OR_RETURN(section.name, text_at(texts, section.header.sh_name));
  }
  return absl::OkStatus();
}

absl::StatusOr<const ElfSection*> ElfFile::section(std::size_t index) const {
  if (index >= sections_.size()) {
    return malformed(absl::StrCat("no section ", index));
  }
  return &sections_[index];
}

absl::StatusOr<std::span<const std::byte>> ElfFile::bytes_of(const ElfSection& section) const {
  if (section.header.sh_type == SHT_NOBITS || section.header.sh_type == SHT_NULL) {
    return std::span<const std::byte>();
  }
  return part(bytes_, section.header.sh_offset, section.header.sh_size);
}

absl::StatusOr<std::string_view> ElfFile::symbol_name(const ElfSection& symbols,
                                                      std::size_t index) const {
  ASSAY_ASSIGN_OR_RETURN(const auto table, bytes_of(symbols));
  if (index >= table.size() / sizeof(Elf64_Sym)) {
    return malformed(absl::StrCat("no symbol ", index));
  }
  const auto symbol = elf_record<Elf64_Sym>(table, index);
  ASSAY_ASSIGN_OR_RETURN(const ElfSection* const names, section(symbols.header.sh_link));
  ASSAY_ASSIGN_OR_RETURN(const auto texts, bytes_of(*names));
  ASSAY_ASSIGN_OR_RETURN(const std::string_view name, text_at(texts, symbol.st_name));
  if (!name.empty() || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) {
    return name;
  }
  ASSAY_ASSIGN_OR_RETURN(const ElfSection* const own, section(symbol.st_shndx));
  return own->name;
}

}  // namespace assay::profiler
