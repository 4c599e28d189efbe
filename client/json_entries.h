// JSON documents whose content is one long list or object of entries. The entries are handed over
// one by one and never held together, and what a file lacks at its end takes only its last entry.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace assay::client {

// Members keep the order of the file.
using OrderedJson = nlohmann::ordered_json;

struct JsonOutline {
  OrderedJson members = OrderedJson::object();  // of the document, those of entries left empty
  OrderedJson first_entry;
  std::size_t num_entries = 0;
  bool is_cut = false;        // the text ends before the document does
  bool is_entry_cut = false;  // within an entry
};

// `key` is empty in a list.
using EntryVisitor = std::function<absl::Status(const std::string& key, const OrderedJson& entry)>;

// Visits the entries of the members `cache`, `results` and `benchmarks`. INVALID_ARGUMENT: empty,
// or no JSON object, with line and column; or what the visitor gave first.
absl::StatusOr<JsonOutline> read_entries(std::string_view text, const EntryVisitor& visitor);

}  // namespace assay::client
