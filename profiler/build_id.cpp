#include "profiler/build_id.h"

#include "absl/strings/escaping.h"

#include <cstddef>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <string_view>

namespace assay::profiler {
namespace {

struct Program {
  std::uintptr_t base = 0;
  std::string build_id;
};

// Notes are a sequence of header, name and description, the last two padded to four bytes.
std::string find_build_id(std::string_view notes) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    notes.remove_prefix(sizeof header);
    const std::size_t name_bytes = padded(header.n_namesz);
    const std::size_t text_bytes = padded(header.n_descsz);
    if (name_bytes + text_bytes > notes.size()) {
      break;
    }
    if (header.n_type == NT_GNU_BUILD_ID) {
      return absl::BytesToHexString(std::string(notes.substr(name_bytes, header.n_descsz)));
    }
    notes.remove_prefix(name_bytes + text_bytes);
  }
  return "";
}

// The first object that is visited is the program itself; a result other than 0 ends the visit.
int visit_program(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& program = *static_cast<Program*>(data);
  program.base = info->dlpi_addr;
  for (int index = 0; index < info->dlpi_phnum && program.build_id.empty(); ++index) {
    const ElfW(Phdr)& header = info->dlpi_phdr[index];
    if (header.p_type == PT_NOTE) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
      const auto* notes = reinterpret_cast<const char*>(program.base + header.p_vaddr);
      program.build_id = find_build_id({notes, header.p_memsz});
    }
  }
  return 1;
}

const Program& this_program() {
  static const Program program = [] {
    Program found;
    dl_iterate_phdr(visit_program, &found);
    return found;
  }();
  return program;
}

std::string& library_digest() {
  static std::string digest;
  return digest;
}

}  // namespace

std::string build_id() {
  return this_program().build_id + library_digest();
}

void add_library_to_build_id(const std::string& digest) {
  library_digest() += "+" + digest;
}

std::uintptr_t relative_address(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - this_program().base;
}

}  // namespace assay::profiler
