// What a receipt must not tell: paths, hosts and users, wherever a text names them. A pure function
// of what is stored, so that every machine writes the same receipt. A bare host name is known only
// where the device's launch prefix or name is one.
#pragma once

#include "proto/assay.pb.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::server {

inline constexpr std::size_t kMaxReceiptText = 2'000;

class Scrub {
 public:
  explicit Scrub(const v1::Device& device);

  // One line: an absolute path is "(path removed)", or ".../name" where it ends in a source's name;
  // a host, an address or a user at one is "(host removed)". Longer than kMaxReceiptText: cut, and
  // the number of bytes that are missing said.
  std::string text(std::string_view text) const;

  // Every text of a message, at any depth.
  void message(google::protobuf::Message& message) const;

 private:
  std::vector<std::string> hosts_;
};

}  // namespace assay::server
