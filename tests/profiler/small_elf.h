// Small ELF files as cubins are: sections by name, the headers last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <utility>
#include <vector>

namespace assay::profiler {

class SmallElf {
 public:
  SmallElf() { add("", "", SHT_NULL); }

  // The index of the new section; `link` and `info` are those of its header.
  std::size_t add(const std::string& name,
                  std::string bytes,
                  Elf64_Word type = SHT_PROGBITS,
                  std::size_t link = 0,
                  std::size_t info = 0) {
    Section& section = sections_.emplace_back();
    section.header.sh_type = type;
    section.header.sh_link = static_cast<Elf64_Word>(link);
    section.header.sh_info = static_cast<Elf64_Word>(info);
    section.header.sh_name = static_cast<Elf64_Word>(names_.size());
    section.bytes = std::move(bytes);
    names_ += name + '\0';
    return sections_.size() - 1;
  }

  std::vector<std::byte> file() const {
    std::vector<Section> sections = sections_;
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shstrndx = static_cast<Elf64_Half>(sections.size());
    sections.emplace_back().header.sh_type = SHT_STRTAB;
    sections.back().bytes = names_;
    header.e_shnum = static_cast<Elf64_Half>(sections.size());

    std::string bytes(sizeof header, '\0');
    for (Section& section : sections) {
      section.header.sh_offset = bytes.size();
      section.header.sh_size = section.bytes.size();
      bytes += section.bytes;
    }
    header.e_shoff = bytes.size();
    for (const Section& section : sections) {
      bytes += bytes_of(section.header);
    }
    std::memcpy(bytes.data(), &header, sizeof header);
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
    return {begin, begin + bytes.size()};
  }

  template <class Record>
  static std::string bytes_of(const Record& record) {
    return {reinterpret_cast<const char*>(&record), sizeof record};
  }

 private:
  struct Section {
    Elf64_Shdr header = {};
    std::string bytes;
  };

  std::string names_;
  std::vector<Section> sections_;
};

// A kernel that calls `callee`, with one relocation to itself, one to the callee and one to its
// constants' section, beside another kernel.
struct SmallKernel {
  std::string name = "kernel_a";
  std::string code = "0123456789abcdef";
  std::string constants = "2222";
  std::string parameters = "0000";
  std::string callee = "helper";
  std::int64_t addend = 8;
  bool has_addends = true;

  std::vector<std::byte> file() const {
    SmallElf elf;
    std::string texts(1, '\0');
    const auto symbol = [&texts](const std::string& of, std::size_t section) {
      Elf64_Sym record = {};
      record.st_name = of.empty() ? 0 : static_cast<Elf64_Word>(texts.size());
      record.st_shndx = static_cast<Elf64_Section>(section);
      texts += of.empty() ? "" : of + '\0';
      return SmallElf::bytes_of(record);
    };
    elf.add(".text.other", "another kernel's");
    const std::size_t text = elf.add(".text." + name, code);
    const std::size_t bank = elf.add(".nv.constant2." + name, constants);
    elf.add(".nv.constant0." + name, parameters);
    const std::string symbols = symbol("", 0) + symbol(name, text) +
                                symbol("$" + name + "$" + callee, text) + symbol("", bank);
    const std::size_t strings = elf.add(".strtab", texts, SHT_STRTAB);
    const std::size_t table = elf.add(".symtab", symbols, SHT_SYMTAB, strings);
    std::string relocations;
    for (std::uint64_t i = 1; i <= 3; ++i) {
      Elf64_Rela record = {};
      record.r_offset = 4 * i;
      record.r_info = ELF64_R_INFO(i, 2U);
      record.r_addend = addend;
      relocations += SmallElf::bytes_of(record).substr(0, has_addends ? sizeof record : 16);
    }
    elf.add((has_addends ? ".rela.text." : ".rel.text.") + name,
            relocations,
            has_addends ? SHT_RELA : SHT_REL,
            table,
            text);
    return elf.file();
  }
};

}  // namespace assay::profiler
