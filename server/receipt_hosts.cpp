#include "server/receipt_hosts.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <netinet/in.h>
#include <vector>

namespace assay::server {
namespace {

// Ends of host names: of two labels and more, and of three and more.
constexpr std::array<std::string_view, 12> kDomains = {"com",
                                                       "corp",
                                                       "edu",
                                                       "gov",
                                                       "internal",
                                                       "intranet",
                                                       "lan",
                                                       "local",
                                                       "localdomain",
                                                       "mil",
                                                       "net",
                                                       "org"};
constexpr std::array<std::string_view, 42> kLongDomains = {
    "ai", "arpa", "at",   "au", "be", "br", "ca", "ch", "cloud", "cluster", "cn", "cz", "de", "dev",
    "dk", "es",   "eu",   "fi", "fr", "gr", "hk", "ie", "il",    "io",      "it", "jp", "kr", "mx",
    "nl", "nz",   "home", "pl", "pt", "ru", "se", "sg", "tech",  "tr",      "tw", "uk", "us", "za"};

template <class Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_letter_or_digit(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c));
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

// The name of an operator from source ends in digits of a digest: scale@0123abcd.
bool is_digest_part(std::string_view text) {
  return (text.size() == 8 || text.size() == 32) && is_hexadecimal(text);
}

bool is_ipv4(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](const std::string& part) {
           std::uint32_t value = 0;
           return !part.empty() && part.size() <= 3 &&
                  std::ranges::all_of(part,
                                      [](unsigned char c) { return absl::ascii_isdigit(c); }) &&
                  absl::SimpleAtoi(part, &value) && value <= 255;
         });
}

bool is_domain_name(std::string_view text) {
  const std::vector<std::string> labels =
      absl::StrSplit(absl::AsciiStrToLower(std::string(text)), '.');
  if (labels.size() < 2 || !std::ranges::all_of(labels, [](const std::string& label) {
        return !label.empty() &&
               std::ranges::all_of(label, [](char c) { return is_letter_or_digit(c) || c == '-'; });
      })) {
    return false;
  }
  return is_one_of(labels.back(), kDomains) ||
         (labels.size() > 2 && is_one_of(labels.back(), kLongDomains));
}

}  // namespace

bool is_ipv6(std::string_view word) {
  // Without its zone, or the length of its prefix.
  const std::string text(word.substr(0, word.find_first_of("%/")));
  if (text.find_first_not_of(':') == std::string::npos) {
    return false;
  }
  in6_addr address = {};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1 ||
         (std::ranges::count(text, ':') >= 4 && std::ranges::all_of(text, [](unsigned char c) {
            return c == ':' || absl::ascii_isxdigit(c);
          }));
}

std::string scrub_hosts(std::string_view word) {
  const std::size_t end = word.find_last_not_of(".:!?") + 1;
  const std::string_view core = word.substr(0, end);
  const std::size_t at = core.find('@');
  const bool is_user = at != std::string_view::npos && at > 0 && at + 1 < core.size() &&
                       !is_digest_part(core.substr(at + 1));
  if (is_user || is_ipv6(core)) {
    return absl::StrCat(std::string(kHostRemoved), std::string(word.substr(end)));
  }
  std::string text;
  for (std::size_t place = 0; place <= core.size();) {
    const std::size_t stop = std::min(core.find_first_of(":/", place), core.size());
    const std::string_view part = core.substr(place, stop - place);
    absl::StrAppend(&text,
                    std::string(is_ipv4(part) || is_domain_name(part) ? kHostRemoved : part),
                    std::string(core.substr(stop, 1)));
    place = stop + 1;
  }
  return absl::StrCat(text, std::string(word.substr(end)));
}

}  // namespace assay::server
