#include "client/axis.h"

#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <cstdint>
#include <set>

namespace assay::client {
namespace {

constexpr std::int64_t kMaxValues = 1'000'000;
constexpr std::int64_t kMaxExponent = 62;
constexpr std::string_view kForm =
    "expected NAME=VALUE, NAME=[VALUE,VALUE], NAME=[FIRST:LAST], NAME=[FIRST:LAST:STEP] or "
    "NAME[pow2]=[FIRST:LAST]";

struct Piece {
  std::string text;
  std::size_t place = 0;
};

// One axis in work; every method names the position it stopped at.
class AxisParser {
 public:
  explicit AxisParser(std::string_view text) : text_(text) {}

  absl::StatusOr<v1::Axis> parse() {
    const std::size_t equals = text_.find('=');
    if (equals == std::string_view::npos) {
      return fail(text_.size(), "missing `=`");
    }
    ASSAY_RETURN_IF_ERROR(parse_name(equals));
    if (equals + 1 == text_.size()) {
      return fail(text_.size(), "missing a value");
    }
    if (text_[equals + 1] == '[') {
      ASSAY_RETURN_IF_ERROR(parse_brackets(equals + 1));
    } else {
      ASSAY_RETURN_IF_ERROR(parse_single(equals + 1));
    }
    return axis_;
  }

 private:
  absl::Status fail(std::size_t place, std::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("axis `",
                                                   std::string(text_),
                                                   "`: position ",
                                                   place + 1,
                                                   ": ",
                                                   std::string(what),
                                                   "; ",
                                                   std::string(kForm)));
  }

  absl::Status parse_name(std::size_t equals) {
    const std::string_view left = text_.substr(0, equals);
    const std::size_t bracket = left.find('[');
    const std::string_view name = left.substr(0, bracket);
    if (name.empty()) {
      return fail(0, "missing the axis name");
    }
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char c = name[i];
      const bool valid = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
      if (!valid) {
        return fail(i, "a name has letters, digits, `_`, `.` and `-`");
      }
    }
    if (bracket != std::string_view::npos) {
      if (left.substr(bracket) != "[pow2]") {
        return fail(bracket, "after the name only `[pow2]` may stand");
      }
      is_power_ = true;
    }
    axis_.set_name(std::string(name));
    return absl::OkStatus();
  }

  absl::Status parse_single(std::size_t begin) {
    const std::string_view value = text_.substr(begin);
    const std::size_t stray = value.find_first_of(",[]:");
    if (stray != std::string_view::npos) {
      return fail(begin + stray, "lists and ranges stand in brackets");
    }
    return add({std::string(value), begin});
  }

  absl::Status parse_brackets(std::size_t open) {
    const std::size_t close = text_.find(']', open);
    if (close == std::string_view::npos) {
      return fail(text_.size(), "missing `]`");
    }
    if (close + 1 != text_.size()) {
      return fail(close + 1, "nothing may follow `]`");
    }
    const std::string_view inside = text_.substr(open + 1, close - open - 1);
    const bool is_range = inside.find(':') != std::string_view::npos;
    if (is_range && inside.find(',') != std::string_view::npos) {
      return fail(open + 1 + inside.find(','), "a range holds no list");
    }
    std::vector<Piece> pieces;
    ASSAY_RETURN_IF_ERROR(split(inside, open + 1, is_range ? ':' : ',', pieces));
    if (is_range) {
      return add_range(pieces);
    }
    for (const Piece& piece : pieces) {
      ASSAY_RETURN_IF_ERROR(add(piece));
    }
    return absl::OkStatus();
  }

  absl::Status split(std::string_view inside,
                     std::size_t begin,
                     char separator,
                     std::vector<Piece>& pieces) const {
    std::size_t from = 0;
    while (true) {
      const std::size_t end = std::min(inside.find(separator, from), inside.size());
      std::string_view part = inside.substr(from, end - from);
      const std::size_t blanks = std::min(part.find_first_not_of(' '), part.size());
      part = part.substr(blanks);
      part = part.substr(0, part.find_last_not_of(' ') + 1);
      if (part.empty()) {
        return fail(begin + from, "missing a value");
      }
      if (const std::size_t stray = part.find('['); stray != std::string_view::npos) {
        return fail(begin + from + blanks + stray, "brackets do not nest");
      }
      pieces.push_back({std::string(part), begin + from + blanks});
      if (end == inside.size()) {
        return absl::OkStatus();
      }
      from = end + 1;
    }
  }

  absl::StatusOr<std::int64_t> integer(const Piece& piece) const {
    std::int64_t value = 0;
    if (!absl::SimpleAtoi(piece.text, &value)) {
      return fail(piece.place, absl::StrCat("`", piece.text, "` is not an integer"));
    }
    return value;
  }

  absl::Status add_range(const std::vector<Piece>& pieces) {
    if (pieces.size() > 3) {
      return fail(pieces[3].place, "a range has at most three parts");
    }
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t first, integer(pieces[0]));
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t last, integer(pieces[1]));
    std::int64_t step = 1;
    if (pieces.size() == 3) {
      ASSAY_ASSIGN_OR_RETURN(step, integer(pieces[2]));
    }
    if (last < first) {
      return fail(pieces[1].place, "the last value is below the first");
    }
    if (step < 1) {
      return fail(pieces[2].place, "the step is below 1");
    }
    const std::uint64_t span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
    if (span / static_cast<std::uint64_t>(step) >= kMaxValues) {
      return fail(pieces[0].place, "more than 1,000,000 values");
    }
    const std::uint64_t num_steps = span / static_cast<std::uint64_t>(step);
    for (std::uint64_t i = 0; i <= num_steps; ++i) {
      const std::int64_t value = first + static_cast<std::int64_t>(i) * step;
      ASSAY_RETURN_IF_ERROR(add({absl::StrCat(value), pieces[0].place}));
    }
    return absl::OkStatus();
  }

  absl::Status add(const Piece& piece) {
    std::string value = piece.text;
    if (is_power_) {
      ASSAY_ASSIGN_OR_RETURN(const std::int64_t exponent, integer(piece));
      if (exponent < 0 || exponent > kMaxExponent) {
        return fail(piece.place, absl::StrCat("the power ", exponent, " is not in [0, 62]"));
      }
      value = absl::StrCat(std::int64_t{1} << exponent);
    }
    if (!seen_.insert(value).second) {
      return fail(piece.place, absl::StrCat("the value `", value, "` stands twice"));
    }
    axis_.add_values(value);
    return absl::OkStatus();
  }

  std::string_view text_;
  bool is_power_ = false;
  v1::Axis axis_;
  std::set<std::string> seen_;
};

}  // namespace

absl::StatusOr<v1::Axis> parse_axis(std::string_view text) {
  return AxisParser(text).parse();
}

absl::StatusOr<std::vector<v1::Axis>> parse_axes(const std::vector<std::string>& texts) {
  std::vector<v1::Axis> axes;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    ASSAY_ASSIGN_OR_RETURN(v1::Axis axis, parse_axis(text));
    if (!names.insert(axis.name()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "axis `", text, "`: `", axis.name(), "` is given twice; write its values in one list"));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

}  // namespace assay::client
