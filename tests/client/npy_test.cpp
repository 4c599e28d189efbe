#include "client/npy.h"

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::client {
namespace {

std::string npy(const std::string& header, std::size_t num_data_bytes, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += version == 1 ? "" : std::string(2, '\0');
  return bytes + header + std::string(num_data_bytes, 'd');
}

std::string header(const std::string& type, const std::string& order, const std::string& shape) {
  return absl::StrCat(
      "{'descr': '", type, "', 'fortran_order': ", order, ", 'shape': ", shape, ", }     \n");
}

std::string error_of(const std::string& bytes) {
  const auto array = parse_npy(bytes);
  EXPECT_EQ(array.status().code(), absl::StatusCode::kInvalidArgument) << bytes;
  return std::string(array.status().message());
}

TEST(Npy, RefusesWhatTensorsCannotBe) {
  EXPECT_EQ(error_of(npy(header("<f4", "True", "(2, 3)"), 24)),
            ".npy: Fortran order; save a C-ordered copy");
  EXPECT_EQ(error_of(npy(header(">f4", "False", "(6,)"), 24)),
            ".npy: type >f4; expected one of <f2, <f4, <f8, |i1, |u1, <i4, <i8");
  EXPECT_EQ(error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", 24)),
            ".npy: a type of fields; save one plain array");
  EXPECT_EQ(error_of(npy(header("<f4", "False", "(6,)"), 24, 3)),
            ".npy: version 3; expected 1 or 2");
  EXPECT_EQ(error_of(npy(header("<f4", "False", "(6,)"), 20)),
            ".npy: has 20 bytes of elements where its shape needs 24");
  EXPECT_EQ(error_of(npy(header("<f4", "False", "(4611686018427387904, 8)"), 20)),
            ".npy: has 20 bytes of elements where its shape needs far more");
}

TEST(Npy, RefusesEveryCutAndEveryStrangeHeader) {
  const std::string whole = npy(header("<f4", "False", "(2, 3)"), 24);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_npy(whole.substr(0, length)).ok()) << length;
  }
  for (const char* text : {"",
                           "{}",
                           "{'descr': '<f4', 'fortran_order': False}",
                           "{'descr': '<f4', 'shape': (6,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} more",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (6,"}) {
    EXPECT_EQ(error_of(npy(text, 24)), ".npy: its header is none of NumPy's") << text;
  }
}

TEST(Npy, ReadsTypeAndShapeOfBothVersions) {
  for (const char version : {'\1', '\2'}) {
    const std::string bytes = npy(header("<f4", "False", "(2, 3)"), 24, version);
    ASSERT_TRUE(is_npy(bytes));
    const auto array = parse_npy(bytes);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->dtype, "f32");
    EXPECT_EQ(array->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(bytes.substr(array->data_offset), std::string(24, 'd'));
  }
  const auto scalar = parse_npy(npy(header("|u1", "False", "()"), 1));
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->dtype, "u8");
  EXPECT_TRUE(scalar->shape.empty());
}

}  // namespace
}  // namespace assay::client
