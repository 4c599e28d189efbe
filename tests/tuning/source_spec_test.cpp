#include "tuning/source_spec.h"

#include "tests/tuning/source_fixture.h"

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {
namespace {

using Change = std::function<void(v1::SourceSpec&)>;

std::string error_of(const Change& change) {
  v1::SourceSpec spec = scaled_sum();
  change(spec);
  return std::string(validate_source(spec).message());
}

struct Fault {
  Change change;
  const char* error;
};

void expect_errors(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    const std::string error = error_of(fault.change);
    EXPECT_EQ(error.substr(0, std::string_view(fault.error).size()), fault.error) << error;
  }
}

v1::SourceStage& stage(v1::SourceSpec& spec) {
  return *spec.mutable_stages(0);
}

TEST(SourceSpec, NamesTheFieldOfAFile) {
  expect_errors({
      {[](auto& s) { s.set_name("a b"); }, "source.name: `a b` must be letters, digits and _"},
      {[](auto& s) { s.clear_files(); }, "source.files: must have at least one"},
      {[](auto& s) { s.mutable_files(1)->set_name("plain.cu"); },
       "source.files[1].name: `plain.cu` stands twice"},
      {[](auto& s) { s.mutable_files(1)->set_name("a/../b.cu"); },
       "source.files[1].name: `a/../b.cu` must be relative to the specification's folder"},
      {[](auto& s) { s.mutable_files(1)->set_name("/b.cu"); },
       "source.files[1].name: `/b.cu` must"},
      {[](auto& s) { s.mutable_files(1)->set_name("a\\b.cu"); },
       "source.files[1].name: `a\\b.cu` has"},
      {[](auto& s) { s.mutable_files(1)->set_name("a\nb.cu"); },
       "source.files[1].name: has a line"},
      {[](auto& s) { s.mutable_files(0)->set_text(std::string(1, '\0')); },
       "source.files[0].text: has a byte of value 0"},
      {[](auto& s) { s.mutable_files(0)->set_text(std::string((1 << 20) + 1, ' ')); },
       "source.files[0].text: 1,048,577 bytes, the limit is 1,048,576"},
      {[](auto& s) {
         for (int i = 0; i < 5; ++i) {
           s.add_files()->set_name(absl::StrCat(i));
           s.mutable_files(i + 2)->set_text(std::string(1 << 20, ' '));
         }
       },
       "source.files: 5,242,889 bytes in all, the limit is 4,194,304"},
      {[](auto& s) {
         while (s.files_size() <= 64) {
           s.add_files()->set_name(absl::StrCat(s.files_size()));
         }
       },
       "source.files: 65 files, the limit is 64"},
  });
}

TEST(SourceSpec, NamesTheFieldOfTheSpace) {
  expect_errors({
      {[](auto& s) { s.mutable_axes(0)->set_name("if"); }, "source.axes[0].name: `if` must be"},
      {[](auto& s) { *s.add_axes() = s.axes(0); }, "source.axes[1].name: `n` stands twice"},
      {[](auto& s) { s.mutable_axes(0)->set_max(0); }, "source.axes[0].min: 1 is above max 0"},
      {[](auto& s) { s.mutable_axes(0)->set_default_value(0); },
       "source.axes[0].default_value: 0 is not in [1, 1048576]"},
      {[](auto& s) { s.mutable_parameters(0)->set_name("n"); },
       "source.parameters[0].name: `n` stands twice, or is an axis"},
      {[](auto& s) { s.mutable_parameters(0)->clear_values(); },
       "source.parameters[0].values: must have at least one value"},
      {[](auto& s) { s.mutable_parameters(0)->set_values(1, "64.0"); },
       "source.parameters[0].values[1]: `64.0` stands twice"},
      {[](auto& s) { s.mutable_parameters(0)->set_values(1, "6\n4"); },
       "source.parameters[0].values[1]: has a line break"},
      {[](auto& s) { s.mutable_parameters(0)->set_values(1, "6,4"); },
       "source.parameters[0].values[1]: has a `,`"},
      {[](auto& s) { s.mutable_parameters(0)->set_default_value("7"); },
       "source.parameters[0].default_value: `7` is not among the values"},
      {[](auto& s) {
         for (int i = 0; i < 65'533; ++i) {
           s.mutable_parameters(0)->add_values(absl::StrCat(1000 + i));
         }
       },
       "source.parameters[0].values: 65,536 values, the limit is 65,535"},
      {[](auto& s) { s.set_restrictions(0, "bloc < 3"); },
       "source.restrictions[0]: unsupported expression: position 1: "},
      {[](auto& s) { s.set_restrictions(0, "n.real < 3"); },
       "source.restrictions[0]: unsupported expression: position 2: "},
      {[](auto& s) { s.add_defines("block=3"); },
       "source.defines[1]: `block` is a launch parameter"},
      {[](auto& s) { s.add_defines("f(x)=3"); }, "source.defines[1]: `f(x)` must be letters"},
      {[](auto& s) { s.add_options(""); }, "source.options[1]: is empty"},
  });
}

TEST(SourceSpec, NamesTheFieldOfATensor) {
  const auto fill = [](const char* text) {
    return [text](v1::SourceSpec& s) {
      *s.mutable_tensors(1) = source_of(absl::StrCat("tensors { name: 'b' dtype: 'i32' role: "
                                                     "'input' fill { ",
                                                     text,
                                                     " } }"))
                                  .tensors(0);
    };
  };
  const auto reference = [](const char* text) {
    return [text](v1::SourceSpec& s) {
      *s.mutable_tensors(2) = source_of(absl::StrCat("tensors { name: 'out' dtype: 'f32' role: "
                                                     "'output' reference { ",
                                                     text,
                                                     " } }"))
                                  .tensors(0);
    };
  };
  expect_errors({
      {[](auto& s) { s.mutable_tensors(0)->set_dtype("float"); },
       "source.tensors[0].dtype: `float`: expected one of bf16, f16, f32, i32, i64, i8, u8"},
      {[](auto& s) { s.mutable_tensors(0)->set_role("inout"); },
       "source.tensors[0].role: `inout`: expected one of in_out, input, intermediate, output"},
      {[](auto& s) { s.mutable_tensors(0)->set_name("b"); }, "source.tensors[1].name: `b` stands"},
      {[](auto& s) { s.mutable_tensors(0)->set_shape(0, "block"); },
       "source.tensors[0].shape[0]: unsupported expression: position 1: "},
      {[](auto& s) { s.mutable_tensors(2)->set_role("scratch"); },
       "source.tensors[2].reference: is of output and in_out, not of scratch"},
      {[](auto& s) {
         s.mutable_tensors(2)->set_role("scratch");
         s.mutable_tensors(2)->clear_reference();
       },
       "source.tensors: must have an output or an in_out"},
      {[](auto& s) { s.mutable_tensors(1)->clear_fill(); },
       "source.tensors[1].fill.kind: an input of i32 has no normal fill"},
      {[](auto& s) { s.mutable_tensors(2)->mutable_fill(); },
       "source.tensors[2].fill: is of input and in_out, not of output"},
      {fill("kind: 'random'"), "source.tensors[1].fill.kind: `random`: expected one of constant"},
      {fill("kind: 'file' file: 'a.npy'"), "source.tensors[1].fill.digest: `` is not 32"},
      {fill("kind: 'constant' file: 'a'"), "source.tensors[1].fill.file: is of kind file only"},
      {fill("kind: 'constant' value: 0.5"), "source.tensors[1].fill.value: must be an integer"},
      {fill("kind: 'constant' value: 3e9"),
       "source.tensors[1].fill.value: 3000000000 is beyond i32"},
      {fill("kind: 'constant' value: inf"), "source.tensors[1].fill.value: must be finite"},
      {fill("kind: 'uniform'"), "source.tensors[1].fill.high: must be above low"},
      {fill("kind: 'uniform' high: 3 value: 1"), "source.tensors[1].fill.value: is not of kind"},
      {fill("kind: 'constant' high: 3"), "source.tensors[1].fill.low: is of kind uniform only"},
      {reference("absolute: 1"), "source.tensors[2].reference: needs either data of a file or a"},
      {reference("variant: 'plane'"),
       "source.tensors[2].reference.variant: no `plane`; there is plain, wide"},
      {reference("absolute: -1 variant: 'plain'"),
       "source.tensors[2].reference.absolute: must be finite and not negative"},
      {reference("file: 'a.npy' dtype: 'f16'"),
       "source.tensors[2].reference.dtype: `f16`: expected f32 or f64"},
  });
}

TEST(SourceSpec, NamesTheFieldOfAVariant) {
  expect_errors({
      {[](auto& s) { s.clear_stages(); },
       "source.stages: the variant `plain` needs at least one stage"},
      {[](auto& s) { s.mutable_variants(1)->set_name("plain"); },
       "source.variants[1].name: `plain` stands twice"},
      {[](auto& s) { s.mutable_variants(0)->set_family("own"); },
       "source.variants[0].family: the first variant is of the family baseline"},
      {[](auto& s) { s.mutable_variants(1)->set_file("width.cu"); },
       "source.variants[1].file: no `width.cu`; there is plain.cu, wide.cu"},
      {[](auto& s) { s.mutable_variants(1)->add_parameters("block"); },
       "source.variants[1].has_no_parameters: but it lists some"},
      {[](auto& s) { s.mutable_variants(0)->add_parameters("blocks"); },
       "source.variants[0].parameters[0]: no `blocks`; there is block, unroll"},
      {[](auto& s) { s.mutable_variants(0)->add_parameters("unroll"); },
       "source.stages[0].grid[0]: uses `block`, which the variant `plain` has not"},
      {[](auto& s) { s.mutable_variants(1)->mutable_stages(0)->clear_arguments(); },
       "source.variants[1]: passes the output `out` to no stage"},
      {[](auto& s) { stage(s).set_name("total"); }, "source.stages[0].name: `total` stands twice"},
      {[](auto& s) { stage(s).set_kernel(""); }, "source.stages[0].kernel: is empty"},
      {[](auto& s) { stage(s).clear_grid(); }, "source.stages[0].grid: needs one to three"},
      {[](auto& s) { stage(s).set_block(0, "(64"); },
       "source.stages[0].block[0]: unsupported expression: "},
      {[](auto& s) { stage(s).mutable_arguments(0)->set_tensor("c"); },
       "source.stages[0].arguments[0].tensor: no `c`; there is a, b, out"},
      {[](auto& s) { stage(s).mutable_arguments(0)->set_dtype("f32"); },
       "source.stages[0].arguments[0]: needs either a tensor, or a dtype and a value"},
      {[](auto& s) { stage(s).mutable_arguments(3)->set_dtype("int"); },
       "source.stages[0].arguments[3].dtype: `int`: expected one of"},
      {[](auto& s) { stage(s).mutable_arguments(3)->set_value("m"); },
       "source.stages[0].arguments[3].value: unsupported expression: "},
  });
  EXPECT_EQ(validate_source(scaled_sum()), absl::OkStatus());
}

TEST(SourceSpec, IsAnotherOperatorWhenItComputesAnotherThing) {
  const std::string name = source_operator_name(scaled_sum());
  EXPECT_EQ(name.substr(0, 11), "scaled_sum@");
  EXPECT_EQ(name.size(), 19U);
  const auto renamed = [&](const Change& change) {
    v1::SourceSpec spec = scaled_sum();
    change(spec);
    return source_operator_name(spec) != name;
  };
  EXPECT_TRUE(renamed([](auto& s) { s.mutable_axes(0)->set_name("m"); }));
  EXPECT_TRUE(renamed([](auto& s) { s.mutable_tensors(0)->set_dtype("f16"); }));
  EXPECT_TRUE(renamed([](auto& s) { s.mutable_tensors(0)->set_shape(0, "n + 1"); }));
  EXPECT_TRUE(renamed([](auto& s) { s.mutable_tensors(1)->mutable_fill()->set_value(1); }));
  EXPECT_TRUE(renamed([](auto& s) { s.mutable_tensors(2)->clear_reference(); }));
  EXPECT_TRUE(renamed([](auto& s) { stage(s).mutable_arguments(4)->set_value("0.25"); }));
}

TEST(SourceSpec, StaysTheSameOperatorWhileItsCodeChanges) {
  const std::string name = source_operator_name(scaled_sum());
  const auto kept = [&](const Change& change) {
    v1::SourceSpec spec = scaled_sum();
    change(spec);
    return source_operator_name(spec) == name;
  };
  EXPECT_TRUE(kept([](auto& s) { s.mutable_files(0)->set_text("other"); }));
  EXPECT_TRUE(kept([](auto& s) { s.add_defines("A"); }));
  EXPECT_TRUE(kept([](auto& s) { s.clear_options(); }));
  EXPECT_TRUE(kept([](auto& s) { s.mutable_variants()->RemoveLast(); }));
  EXPECT_TRUE(kept([](auto& s) { s.mutable_parameters(0)->add_values("512"); }));
  EXPECT_TRUE(kept([](auto& s) { s.mutable_axes(0)->set_default_value(5); }));
  EXPECT_TRUE(kept([](auto& s) { s.mutable_tensors(0)->set_shape(0, " n "); }));
  EXPECT_TRUE(kept([](auto& s) { s.mutable_tensors(0)->mutable_fill()->set_kind("normal"); }));
  EXPECT_TRUE(kept([](auto& s) { stage(s).mutable_arguments()->SwapElements(0, 1); }));
  EXPECT_TRUE(kept([](auto& s) {
    *stage(s).add_arguments() = stage(s).arguments(3);
    stage(s).mutable_arguments(5)->set_value("block");
  }));
}

TEST(SourceSpec, IsDescribedAsAnOperatorOfTheCatalogue) {
  const auto info = describe_source(scaled_sum(), "sm_90");
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->name(), source_operator_name(scaled_sum()));
  ASSERT_EQ(info->axes_size(), 1);
  EXPECT_EQ(info->axes(0).default_value(), "1000");
  EXPECT_EQ(info->axes(0).max(), 1048576);
  ASSERT_EQ(info->variants_size(), 2);
  ASSERT_EQ(info->variants(0).parameters_size(), 2);
  EXPECT_EQ(info->variants(0).parameters(0).default_value(), "128");
  EXPECT_EQ(info->variants(0).parameters(0).choices_size(), 3);
  EXPECT_EQ(info->variants(0).parameters(1).default_value(), "true");
  EXPECT_EQ(info->variants(0).family(), "baseline");
  EXPECT_EQ(info->variants(1).family(), "own");
  EXPECT_EQ(info->variants(1).parameters_size(), 0);
  EXPECT_EQ(info->variants(1).stages(0), "sum");
  EXPECT_EQ(info->bits_domain(), "sm_90");
}

TEST(SourceSpec, HasOneVariantOfTheFirstFileWhereNoneIsGiven) {
  v1::SourceSpec spec = scaled_sum();
  spec.clear_variants();
  spec.mutable_tensors(2)->clear_reference();
  ASSERT_EQ(validate_source(spec), absl::OkStatus());
  const v1::SourceSpec complete = complete_source(spec);
  ASSERT_EQ(complete.variants_size(), 1);
  EXPECT_EQ(complete.variants(0).name(), "source");
  EXPECT_EQ(complete.variants(0).file(), "plain.cu");
  EXPECT_EQ(complete.variants(0).parameters_size(), 2);
  EXPECT_EQ(complete.variants(0).stages(0).grid_size(), 3);
  EXPECT_EQ(complete.tensors(0).fill().kind(), "normal");
  EXPECT_EQ(complete.tensors(0).fill().value(), 1);
}

}  // namespace
}  // namespace assay::tuning
