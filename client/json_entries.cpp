#include "client/json_entries.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::client {
namespace {

using Event = OrderedJson::parse_event_t;

// Depths as the library counts them: 1 is a member of the document, 2 an entry.
constexpr int kMember = 1;
constexpr int kEntry = 2;

class EntryReader {
 public:
  explicit EntryReader(const EntryVisitor& visitor) : visitor_(visitor) {}

  // What gives false is dropped by the parser.
  bool see(int depth, Event event, const OrderedJson& parsed) {
    const bool ends =
        event == Event::object_end || event == Event::array_end || event == Event::value;
    if (event == Event::key && depth == kMember) {
      member_ = parsed.get<std::string>();
    } else if (event == Event::key && depth == kEntry) {
      key_ = parsed.get<std::string>();
      is_open_ = true;
    } else if (depth == kEntry && holds_entries()) {
      is_open_ = !ends;
      if (ends) {
        visit(parsed);
        return false;
      }
    } else if (depth == kMember && ends) {
      outline_.members[member_] = parsed;
    } else if (depth == kMember && holds_entries()) {
      outline_.members[member_] =
          event == Event::array_start ? OrderedJson::array() : OrderedJson::object();
      key_.clear();
      is_open_ = false;
    } else if (depth == 0) {
      is_object_ = is_object_ || event == Event::object_start;
    }
    return true;
  }

  absl::StatusOr<JsonOutline> finish() {
    if (!status_.ok()) {
      return status_;
    }
    if (!is_object_) {
      return absl::InvalidArgumentError("expected a JSON object");
    }
    return std::move(outline_);
  }

  // What follows the last whole entry, or the begin of all, may be the begin of a key.
  void cut(std::string_view text) {
    const std::size_t brace = text.rfind(outline_.num_entries > 0 ? '}' : '{');
    const std::string_view tail = text.substr(std::min(brace, text.size()));
    outline_.is_cut = true;
    outline_.is_entry_cut =
        holds_entries() && (is_open_ || tail.find('"') != std::string_view::npos);
  }

 private:
  bool holds_entries() const {
    return member_ == "cache" || member_ == "results" || member_ == "benchmarks";
  }

  void visit(const OrderedJson& entry) {
    if (outline_.num_entries++ == 0) {
      outline_.first_entry = entry;
    }
    if (status_.ok()) {
      status_ = visitor_(key_, entry);
    }
  }

  const EntryVisitor& visitor_;
  JsonOutline outline_;
  absl::Status status_;
  std::string member_;
  std::string key_;
  bool is_open_ = false;
  bool is_object_ = false;
};

}  // namespace

// The library reports by exceptions, which end here.
absl::StatusOr<JsonOutline> read_entries(std::string_view text, const EntryVisitor& visitor) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return absl::InvalidArgumentError("empty file");
  }
  EntryReader reader(visitor);
  const auto see = [&reader](int depth, Event event, const OrderedJson& parsed) {
    return reader.see(depth, event, parsed);
  };
  try {
    // What is left of the document is in the outline already.
    [[maybe_unused]] const OrderedJson rest = OrderedJson::parse(text, see);
  } catch (const OrderedJson::parse_error& error) {
    if (error.byte <= text.size()) {
      const std::string what = error.what();
      const std::size_t begin = what.find("] ");
      return absl::InvalidArgumentError(
          absl::StrCat("not JSON: ", begin == std::string::npos ? what : what.substr(begin + 2)));
    }
    reader.cut(text);
  } catch (const OrderedJson::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not JSON: ", error.what()));
  }
  return reader.finish();
}

}  // namespace assay::client
