#include "client/npy.h"

#include "proto/status.h"
#include "proto/text.h"
#include "tuning/source_type.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace assay::client {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = 65'536;
constexpr std::size_t kMaxDimensions = 32;
// What NumPy writes for the types that tensors have; of one byte there is no order.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTypes = {{{"<f2", "f16"},
                                                                                  {"<f4", "f32"},
                                                                                  {"<f8", "f64"},
                                                                                  {"|i1", "i8"},
                                                                                  {"|u1", "u8"},
                                                                                  {"<i4", "i32"},
                                                                                  {"<i8", "i64"}}};

absl::Status refuse(std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(".npy: ", std::string(why)));
}

// The header: a Python dictionary of three members in any order, nothing else.
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {}

  absl::Status parse(NpyArray& array) {
    bool is_well_formed = take('{');
    while (is_well_formed && !take('}')) {
      const std::optional<std::string> name = quoted();
      is_well_formed = name && take(':');
      if (is_well_formed && *name == "descr") {
        ASSAY_RETURN_IF_ERROR(parse_type(array));
      } else if (is_well_formed && *name == "fortran_order") {
        has_order_ = true;
        if (take_word("True")) {
          return refuse("Fortran order; save a C-ordered copy");
        }
        is_well_formed = take_word("False");
      } else if (is_well_formed && *name == "shape") {
        has_shape_ = true;
        is_well_formed = parse_shape(array);
      } else {
        is_well_formed = false;
      }
      take(',');
    }
    skip_blanks();
    if (!is_well_formed || !text_.empty() || !has_order_ || !has_shape_ || array.dtype.empty()) {
      return refuse("its header is none of NumPy's");
    }
    return absl::OkStatus();
  }

 private:
  void skip_blanks() {
    const std::size_t begin = text_.find_first_not_of(" \n");
    text_.remove_prefix(std::min(begin, text_.size()));
  }

  bool take(char c) {
    skip_blanks();
    const bool is_next = text_.starts_with(c);
    text_.remove_prefix(is_next ? 1 : 0);
    return is_next;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    const bool is_next = text_.starts_with(word);
    text_.remove_prefix(is_next ? word.size() : 0);
    return is_next;
  }

  std::optional<std::string> quoted() {
    if (!take('\'')) {
      return std::nullopt;
    }
    const std::size_t end = text_.find('\'');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    std::string inside(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return inside;
  }

  absl::Status parse_type(NpyArray& array) {
    const std::optional<std::string> descr = quoted();
    if (!descr) {
      return refuse("a type of fields; save one plain array");
    }
    const auto* found =
        std::ranges::find(kTypes, std::string_view(*descr), &decltype(kTypes)::value_type::first);
    if (found == kTypes.end()) {
      return refuse(
          absl::StrCat("type ", *descr, "; expected one of <f2, <f4, <f8, |i1, |u1, <i4, <i8"));
    }
    array.dtype = std::string(found->second);
    return absl::OkStatus();
  }

  bool parse_shape(NpyArray& array) {
    if (!take('(')) {
      return false;
    }
    while (!take(')')) {
      skip_blanks();
      const std::size_t length = std::min(text_.find_first_not_of("0123456789"), text_.size());
      std::int64_t extent = 0;
      if (!absl::SimpleAtoi(absl::string_view(text_.data(), length), &extent) ||
          array.shape.size() == kMaxDimensions) {
        return false;
      }
      text_.remove_prefix(length);
      array.shape.push_back(extent);
      take(',');
    }
    return true;
  }

  std::string_view text_;
  bool has_order_ = false;
  bool has_shape_ = false;
};

absl::Status check_size(const NpyArray& array, std::size_t num_bytes) {
  std::int64_t wanted = tuning::source_type_bytes(array.dtype);
  bool is_known = true;
  for (const std::int64_t extent : array.shape) {
    is_known = is_known && !__builtin_mul_overflow(wanted, extent, &wanted);
  }
  if (!is_known || static_cast<std::size_t>(wanted) != num_bytes) {
    return refuse(absl::StrCat("has ",
                               proto::with_commas(static_cast<std::int64_t>(num_bytes)),
                               " bytes of elements where its shape needs ",
                               is_known ? proto::with_commas(wanted) : "far more"));
  }
  return absl::OkStatus();
}

}  // namespace

bool is_npy(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

absl::StatusOr<NpyArray> parse_npy(std::string_view bytes) {
  const auto byte_at = [bytes](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
  };
  if (!is_npy(bytes) || bytes.size() < 12) {
    return refuse("it does not begin as one");
  }
  const std::size_t version = byte_at(6);
  if (version != 1 && version != 2) {
    return refuse(absl::StrCat("version ", version, "; expected 1 or 2"));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= byte_at(8 + i) << (8 * i);
  }
  NpyArray array;
  array.data_offset = 8 + length_bytes + length;
  if (length > kMaxHeaderBytes || array.data_offset > bytes.size()) {
    return refuse("it ends within its header");
  }
  ASSAY_RETURN_IF_ERROR(Header(bytes.substr(8 + length_bytes, length)).parse(array));
  ASSAY_RETURN_IF_ERROR(check_size(array, bytes.size() - array.data_offset));
  return array;
}

}  // namespace assay::client
