#include "client/strict_json.h"

#include "absl/strings/str_cat.h"

#include <set>
#include <string>
#include <vector>

namespace assay::client {
namespace {

using Json = nlohmann::json;

// Of two members of one name the parser would keep one without a word.
class RepeatedMembers {
 public:
  bool see(Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(name).second && first_.empty()) {
        first_ = name;
      }
    }
    return true;
  }

  const std::string& first() const { return first_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string first_;
};

}  // namespace

// The library reports by exceptions, which end here.
absl::StatusOr<Json> parse_strict_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return absl::InvalidArgumentError("empty file");
  }
  RepeatedMembers repeated;
  Json root;
  try {
    root = Json::parse(text, [&](int /*depth*/, Json::parse_event_t event, const Json& parsed) {
      return repeated.see(event, parsed);
    });
  } catch (const Json::exception& exception) {
    const std::string what = exception.what();
    const std::size_t begin = what.find("] ");
    return absl::InvalidArgumentError(
        absl::StrCat("not JSON: ", begin == std::string::npos ? what : what.substr(begin + 2)));
  }
  if (!repeated.first().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(repeated.first(), ": stands twice in one object"));
  }
  return root;
}

}  // namespace assay::client
