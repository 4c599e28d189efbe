#include "profiler/machine_code.h"

#include "profiler/elf_file.h"
#include "proto/status.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

constexpr std::string_view kConstants = ".nv.constant";

// With the length first, so that no two texts run together.
void append(std::string_view text, std::string& to) {
  absl::StrAppend(&to, text.size(), ":");
  to.append(text);
}

void append(std::span<const std::byte> bytes, std::string& to) {
  append(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), to);
}

// What a section is to the kernel: "text", "constant2"; empty for what is no part of its code.
// Bank 0 holds the parameters and is filled by the driver.
std::string role_of(std::string_view section, std::string_view kernel) {
  if (section.size() <= kernel.size() || !section.ends_with(kernel)) {
    return "";
  }
  std::string_view rest = section.substr(0, section.size() - kernel.size());
  if (rest == ".text.") {
    return "text";
  }
  if (!rest.starts_with(kConstants) || !rest.ends_with('.')) {
    return "";
  }
  const std::string_view bank = rest.substr(kConstants.size(), rest.size() - kConstants.size() - 1);
  const bool is_number = !bank.empty() && std::ranges::all_of(bank, absl::ascii_isdigit);
  return is_number && bank != "0" ? absl::StrCat("constant", std::string(bank)) : "";
}

// The name with the kernel's own in it, between the marks of the compiler's names, replaced.
std::string neutral(std::string_view name, std::string_view kernel) {
  std::string text;
  std::size_t done = 0;
  for (std::size_t at = name.find(kernel); at != std::string_view::npos;
       at = name.find(kernel, at + 1)) {
    const std::size_t end = at + kernel.size();
    const bool starts = at == 0 || name[at - 1] == '$' || name[at - 1] == '.';
    const bool ends = end == name.size() || name[end] == '$' || name[end] == '.';
    if (starts && ends && at >= done) {
      text.append(name.substr(done, at - done)).append("<kernel>");
      done = end;
    }
  }
  return text.append(name.substr(done));
}

// The relocations of one section as text, one element each.
template <class Record>
absl::Status add_relocations(const ElfFile& file,
                             const ElfSection& section,
                             std::string_view kernel,
                             std::vector<std::string>& relocations) {
  ASSAY_ASSIGN_OR_RETURN(const auto bytes, file.bytes_of(section));
  ASSAY_ASSIGN_OR_RETURN(const ElfSection* const symbols, file.section(section.header.sh_link));
  if (bytes.size() % sizeof(Record) != 0) {
    return absl::InvalidArgumentError("ELF: a relocation is cut off");
  }
  for (std::size_t i = 0; i < bytes.size() / sizeof(Record); ++i) {
    const auto record = elf_record<Record>(bytes, i);
    ASSAY_ASSIGN_OR_RETURN(const std::string_view name,
                           file.symbol_name(*symbols, ELF64_R_SYM(record.r_info)));
    std::string text = absl::StrCat(record.r_offset, " ", ELF64_R_TYPE(record.r_info), " ");
    if constexpr (requires { record.r_addend; }) {
      absl::StrAppend(&text, record.r_addend, " ");
    }
    relocations.push_back(text.append(neutral(name, kernel)));
  }
  return absl::OkStatus();
}

absl::Status add_relocations_of(const ElfFile& file,
                                std::size_t target,
                                std::string_view kernel,
                                std::string& code) {
  std::vector<std::string> relocations;
  for (const ElfSection& section : file.sections()) {
    if (section.header.sh_info != target) {
      continue;
    }
    if (section.header.sh_type == SHT_RELA) {
      ASSAY_RETURN_IF_ERROR(add_relocations<Elf64_Rela>(file, section, kernel, relocations));
    } else if (section.header.sh_type == SHT_REL) {
      ASSAY_RETURN_IF_ERROR(add_relocations<Elf64_Rel>(file, section, kernel, relocations));
    }
  }
  std::ranges::sort(relocations);
  for (const std::string& relocation : relocations) {
    append(relocation, code);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Digest> machine_code_digest(std::span<const std::byte> cubin,
                                           std::string_view kernel) {
  ASSAY_ASSIGN_OR_RETURN(const ElfFile file, ElfFile::parse(cubin));
  bool has_text = false;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < file.sections().size(); ++i) {
    const ElfSection& section = file.sections()[i];
    const std::string role = role_of(section.name, kernel);
    if (role.empty()) {
      continue;
    }
    has_text = has_text || role == "text";
    ASSAY_ASSIGN_OR_RETURN(const auto bytes, file.bytes_of(section));
    std::string& part = parts.emplace_back();
    append(std::string_view(role), part);
    append(bytes, part);
    ASSAY_RETURN_IF_ERROR(add_relocations_of(file, i, kernel, part));
  }
  if (!has_text) {
    return absl::NotFoundError(
        absl::StrCat("no machine code of the kernel `", std::string(kernel), "`"));
  }
  std::ranges::sort(parts);
  std::string code;
  for (const std::string& part : parts) {
    append(std::string_view(part), code);
  }
  return digest_bytes(std::as_bytes(std::span(code)));
}

}  // namespace assay::profiler
