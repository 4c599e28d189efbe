#include "profiler/source_operator.h"

#include "profiler/failure_class.h"
#include "profiler/runner.h"
#include "profiler/session.h"
#include "tests/profiler/replaying_device.h"
#include "tests/profiler/source_specs.h"
#include "tuning/content_digest.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasAddressSpace = false;
#else
constexpr bool kHasAddressSpace = true;
#endif

// The arguments of a launch, as the kernel reads them.
class Arguments {
 public:
  Arguments(const SourceLaunch& launch, const kernels::Call& call) : launch_(launch), call_(call) {}

  template <class T>
  T* tensor(std::size_t index) const {
    return static_cast<T*>(call_.tensors[launch_.tensors[index]]);
  }

  template <class T>
  T scalar(std::size_t index) const {
    T value;
    std::memcpy(&value, launch_.sizes.scalars[index].data(), sizeof value);
    return value;
  }

 private:
  const SourceLaunch& launch_;
  const kernels::Call& call_;
};

// The cpu device, which runs functions of its own instead of the kernels that were compiled.
class HostKernels : public ReplayingDevice {
 public:
  using Kernel = std::function<void(const SourceLaunch&, const Arguments&)>;

  HostKernels() : ReplayingDevice(1 << 20) {
    kernels["vector_add"] = [](const SourceLaunch& /*launch*/, const Arguments& arguments) {
      for (int i = 0; i < arguments.scalar<std::int32_t>(3); ++i) {
        arguments.tensor<float>(0)[i] =
            arguments.tensor<float>(1)[i] + arguments.tensor<float>(2)[i];
      }
    };
    kernels["scale"] = [](const SourceLaunch& /*launch*/, const Arguments& arguments) {
      for (int i = 0; i < arguments.scalar<std::int32_t>(2); ++i) {
        arguments.tensor<float>(0)[i] *= arguments.scalar<float>(1);
      }
    };
    kernels["chunk_sums"] = [](const SourceLaunch& launch, const Arguments& arguments) {
      const int width = arguments.scalar<std::int32_t>(2);
      for (std::uint32_t row = 0; row < launch.sizes.grid[1]; ++row) {
        for (int chunk = 0; chunk < static_cast<int>(launch.sizes.grid[0]); ++chunk) {
          int sum = 0;
          for (int i = 64 * chunk; i < std::min(width, 64 * (chunk + 1)); ++i) {
            sum += arguments.tensor<int>(0)[static_cast<int>(row) * width + i];
          }
          arguments.tensor<int>(1)[1024 * static_cast<int>(row) + chunk] = sum;
        }
      }
    };
    kernels["merge_sums"] = [](const SourceLaunch& launch, const Arguments& arguments) {
      for (int row = 0; row < static_cast<int>(launch.sizes.grid[0]); ++row) {
        int total = 0;
        for (int i = 0; i < arguments.scalar<std::int32_t>(2); ++i) {
          total += arguments.tensor<int>(0)[1024 * row + i];
        }
        arguments.tensor<int>(1)[row] = total;
      }
    };
  }

  v1::Device description() override {
    v1::Device description = ReplayingDevice::description();
    description.set_compute_capability("8.0");
    return description;
  }

  absl::Status takes_source() const override { return absl::OkStatus(); }

  absl::StatusOr<std::shared_ptr<LoadedSource>> load_source(
      std::span<const std::byte> /*cubin*/) const override {
    return std::make_shared<LoadedSource>();
  }

  absl::StatusOr<StagePlan> bind_source(const SourceLaunch& launch) const override {
    if (!bound.ok()) {
      return bound;
    }
    StagePlan plan;
    plan.launch = [launch, kernel = kernels.at(launch.kernel)](const kernels::Call& call) {
      for (const TensorCopy& copy : launch.copies) {
        std::memcpy(call.tensors[copy.to],
                    call.tensors[copy.from],
                    static_cast<std::size_t>(copy.num_bytes));
      }
      kernel(launch, Arguments(launch, call));
      return absl::OkStatus();
    };
    return plan;
  }

  std::map<std::string, Kernel> kernels;  // by short name
  absl::Status bound;                     // what bind_source() says
};

class SourceOperatorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kHasAddressSpace) {
      GTEST_SKIP() << "a sanitizer needs more address space than the compiler gets";
    }
    if (const absl::Status status = SourceCompiler::availability(false); !status.ok()) {
      GTEST_SKIP() << status;
    }
  }

  std::string define(const v1::SourceSpec& spec) {
    v1::RunnerRequest request;
    *request.mutable_define()->mutable_source() = spec;
    v1::RunnerReply reply;
    const absl::Status status = runner_.answer(request, reply);
    EXPECT_TRUE(status.ok()) << status;
    return reply.defined().operator_info().name();
  }

  absl::Status define_error(const v1::SourceSpec& spec) {
    v1::RunnerRequest request;
    *request.mutable_define()->mutable_source() = spec;
    v1::RunnerReply reply;
    const absl::Status status = runner_.answer(request, reply);
    EXPECT_TRUE(is_refused(status));
    return status;
  }

  absl::StatusOr<v1::RunnerOpened> open(const v1::RunnerOpen& open) {
    v1::RunnerRequest request;
    *request.mutable_open() = open;
    v1::RunnerReply reply;
    const absl::Status status = runner_.answer(request, reply);
    return status.ok() ? absl::StatusOr<v1::RunnerOpened>(reply.opened()) : status;
  }

  v1::BitsReport bits_of_baseline(const std::string& name, const std::string& variant) {
    const auto opened = open(open_request(name, variant));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? opened->baseline().bits() : v1::BitsReport();
  }

  void send(const std::string& data) {
    v1::RunnerRequest request;
    request.mutable_blob()->set_digest(tuning::content_digest(data));
    request.mutable_blob()->set_num_bytes(static_cast<std::int64_t>(data.size()));
    request.mutable_blob()->set_data(data);
    v1::RunnerReply reply;
    EXPECT_TRUE(runner_.answer(request, reply).ok());
    EXPECT_TRUE(reply.has_kept());
  }

  HostKernels device_;
  Runner runner_{device_, {}, {}};
};

void set(v1::Arm& arm, const std::string& name, const std::string& value) {
  v1::Setting& setting = *arm.add_parameters();
  setting.set_name(name);
  setting.set_value(value);
}

TEST(SourceOperator, NeedsACudaDevice) {
  const auto device = make_cpu_device(1 << 20);
  Runner runner(*device, {}, {});
  v1::RunnerRequest request;
  *request.mutable_define()->mutable_source() = spec_of(kVectorAdd, kVectorAddText);
  v1::RunnerReply reply;
  const absl::Status status = runner.answer(request, reply);
  EXPECT_TRUE(is_refused(status));
  EXPECT_EQ(status.message(), "source needs a CUDA device");
  EXPECT_FALSE(hello_of(*device, {}).device().compiles_source());
  EXPECT_EQ(hello_of(*device, {}).device().source_refused(), "source needs a CUDA device");
}

TEST_F(SourceOperatorTest, SaysInTheHelloThatItCompiles) {
  EXPECT_TRUE(hello_of(device_, {}).device().compiles_source());
}

TEST_F(SourceOperatorTest, RefusesASpecificationThatIsNone) {
  v1::SourceSpec spec = spec_of(kVectorAdd, kVectorAddText);
  spec.mutable_tensors(0)->set_shape(0, "m");
  EXPECT_EQ(define_error(spec).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SourceOperatorTest, IsFoundByItsNameUntilAnotherIsDefined) {
  const std::string name = define(spec_of(kVectorAdd, kVectorAddText));
  EXPECT_EQ(name.substr(0, 11), "vector_add@");
  define(spec_of(kScale, kScaleText));
  const auto opened = open(open_request(name, "plain"));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(opened.status().message()).find("valid: scale@"), std::string::npos);
}

TEST_F(SourceOperatorTest, CarriesTheCompilersLogOutOfARefusedOpen) {
  const std::string name = define(spec_of(kVectorAdd, "#include \"private.h\"\n"));
  const auto opened = open(open_request(name, "plain"));
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(failure_of(opened.status()), v1::COMPILE);
  EXPECT_NE(std::string(opened.status().message()).find("kernel.cu(1): catastrophic error"),
            std::string::npos);
}

TEST_F(SourceOperatorTest, RefusesArgumentsThatTheKernelDoesNotTake) {
  v1::SourceSpec spec = spec_of(kVectorAdd, kVectorAddText);
  spec.mutable_stages(0)->mutable_arguments(3)->set_dtype("i64");
  auto opened = open(open_request(define(spec), "plain"));
  EXPECT_EQ(failure_of(opened.status()), v1::LAUNCH);
  EXPECT_EQ(opened.status().message(),
            "stage add: arguments[3]: kernel `vector_add` takes 4 bytes there, an i64 has 8");
  spec.mutable_stages(0)->mutable_arguments()->RemoveLast();
  opened = open(open_request(define(spec), "plain"));
  EXPECT_EQ(opened.status().message(),
            "stage add: kernel `vector_add` takes 4 arguments, 3 are given");
}

TEST_F(SourceOperatorTest, RefusesParametersThatAreNoConfiguration) {
  const std::string name = define(spec_of(kVectorAdd, kVectorAddText));
  v1::RunnerOpen request = open_request(name, "plain");
  set(*request.mutable_baseline(), "block", "64");
  auto opened = open(request);
  EXPECT_EQ(failure_of(opened.status()), v1::CONSTRAINTS);
  EXPECT_EQ(opened.status().message(), "parameter block: `64` is none of 128, 256");
  request.mutable_baseline()->mutable_parameters(0)->set_value("256");
  v1::Setting& n = *request.mutable_workload()->add_axes();
  n.set_name("n");
  n.set_value("1000");
  opened = open(request);
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(failure_of(opened.status()), v1::CONSTRAINTS) << opened.status();
  n.set_value("1024");
  EXPECT_TRUE(open(request).ok());
}

TEST_F(SourceOperatorTest, ValidatesArmsWithoutCompiling) {
  v1::RunnerRequest request;
  v1::RunnerValidate& validate = *request.mutable_validate();
  validate.set_operator_name(define(spec_of(kVectorAdd, "does not compile")));
  validate.add_arms()->set_variant("plain");
  v1::RunnerReply reply;
  EXPECT_TRUE(runner_.answer(request, reply).ok());
  set(*validate.mutable_arms(0), "block", "64");
  const absl::Status status = runner_.answer(request, reply);
  EXPECT_EQ(failure_of(status), v1::CONSTRAINTS);
  EXPECT_EQ(status.message(), "arms[0]: parameter block: `64` is none of 128, 256");
}

TEST_F(SourceOperatorTest, PassesOnThatADeviceHasTooLittle) {
  device_.bound = absl::ResourceExhaustedError("stage add: too many threads");
  const auto opened = open(open_request(define(spec_of(kVectorAdd, kVectorAddText)), "plain"));
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(failure_of(opened.status()), v1::RESOURCES);
}

TEST_F(SourceOperatorTest, PassesChecksWithTheBitsOfTheSameWorkEveryTime) {
  const std::string name = define(spec_of(kVectorAdd, kVectorAddText));
  const auto first = open(open_request(name, "plain"));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
      << first->baseline().bits().detail();
  EXPECT_EQ(first->baseline().arm().parameters(0).value(), "128");
  EXPECT_EQ(first->baseline().min_bytes(), 3 * 4 * 1024);
  EXPECT_FALSE(first->baseline().bits().tolerance_known());
  const auto second = open(open_request(name, "plain"));
  EXPECT_EQ(second->baseline().outputs(0).digest(), first->baseline().outputs(0).digest());
  EXPECT_EQ(second->baseline().code_digest(), first->baseline().code_digest());
}

TEST_F(SourceOperatorTest, ReportsArgumentsInTheWrongOrder) {
  const v1::BitsReport bits =
      bits_of_baseline(define(spec_of(kVectorAdd, kVectorAddText)), "swapped");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail(),
            "1,024 of 1,024 elements of `out` not written, first out[0]; input `a` was changed");
}

TEST_F(SourceOperatorTest, ReportsAnInputThatAKernelChanges) {
  device_.kernels["vector_add"] = [](const SourceLaunch& /*launch*/, const Arguments& arguments) {
    for (int i = 0; i < 1024; ++i) {
      arguments.tensor<float>(0)[i] = 1;
      arguments.tensor<float>(1)[i] = 1;
    }
  };
  const v1::BitsReport bits =
      bits_of_baseline(define(spec_of(kVectorAdd, kVectorAddText)), "plain");
  EXPECT_EQ(bits.failed(), v1::BITS_INPUTS);
  EXPECT_EQ(bits.detail(), "input `a` was changed");
}

TEST_F(SourceOperatorTest, ReportsWhatIsNotWritten) {
  const v1::BitsReport bits = bits_of_baseline(define(spec_of(kVectorAdd, kVectorAddText)), "half");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("512 of 1,024 elements of `out` not written"), 0U) << bits.detail();
}

TEST_F(SourceOperatorTest, StartsEveryInPlaceCallFromTheSameBytes) {
  const std::string name = define(spec_of(kScale, kScaleText));
  std::string digest;
  for (const std::uint32_t num_calls : {1U, 100U}) {
    v1::RunnerOpen request = open_request(name, "source");
    request.set_num_calls(num_calls);
    const auto opened = open(request);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
    const std::string found = opened->baseline().outputs(0).digest();
    EXPECT_TRUE(digest.empty() || digest == found);
    digest = found;

    v1::RunnerRequest time;
    time.mutable_time()->set_num_rounds(1);
    v1::RunnerReply reply;
    ASSERT_TRUE(runner_.answer(time, reply).ok());
    v1::RunnerRequest close;
    close.mutable_close();
    ASSERT_TRUE(runner_.answer(close, reply).ok());
    EXPECT_FALSE(reply.closed().baseline().has_bits()) << reply.ShortDebugString();
    EXPECT_EQ(reply.closed().baseline().event_stages_size(), 0);
  }
}

TEST_F(SourceOperatorTest, RefusesToTimeAnInPlaceCallByMoreThanItsKernels) {
  const std::string name = define(spec_of(kScale, kScaleText));
  v1::RunnerOpen request = open_request(name, "source");
  request.set_timing_source(v1::CUDA_EVENTS);
  auto opened = open(request);
  EXPECT_TRUE(is_refused(opened.status()));
  EXPECT_EQ(std::string(opened.status().message()).find("timing_source: tensor x is in_out"), 0U);
  request.set_timing_source(v1::TIMING_SOURCE_UNSPECIFIED);
  request.set_launch_mode(v1::GRAPH);
  opened = open(request);
  EXPECT_EQ(std::string(opened.status().message()).find("launch_mode: tensor x is in_out"), 0U);
}

TEST_F(SourceOperatorTest, ComparesWithTheOutputOfTheReferenceVariant) {
  const std::string name = define(spec_of(kRowSum, kRowSumText));
  const auto opened = open(open_request(name, "plain"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_TRUE(opened->baseline().bits().tolerance_known());
  EXPECT_EQ(opened->baseline().bits().tolerance_used(), 0);
  const v1::BitsReport bits = bits_of_baseline(name, "drops");
  EXPECT_EQ(bits.failed(), v1::BITS_TOLERANCE) << bits.ShortDebugString();
}

TEST_F(SourceOperatorTest, DoesNotTakeTheReferenceOfAnotherVersionOfItsVariant) {
  const std::string name = define(spec_of(kRowSum, kRowSumText));
  ASSERT_TRUE(open(open_request(name, "plain")).ok());
  // The same operator, but its reference variant now gives something else.
  device_.kernels["merge_sums"] = [](const SourceLaunch& launch, const Arguments& arguments) {
    for (std::uint32_t row = 0; row < launch.sizes.grid[0]; ++row) {
      arguments.tensor<int>(1)[row] = 7;
    }
  };
  ASSERT_EQ(define(spec_of(kRowSum, std::string(kRowSumText) + "// other\n")), name);
  EXPECT_EQ(bits_of_baseline(name, "plain").failed(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(SourceOperatorTest, RefusesDataThatWasNotSentOrHasAnotherSize) {
  v1::SourceSpec spec = spec_of(kVectorAdd, kVectorAddText);
  v1::SourceFill& fill = *spec.mutable_tensors(0)->mutable_fill();
  fill.set_kind("file");
  fill.set_file("a.npy");
  fill.set_digest(tuning::content_digest("abcd"));
  EXPECT_EQ(define_error(spec).message(),
            "tensor a: the data with digest " + fill.digest() + " was not sent");
  send("abcd");
  const auto opened = open(open_request(define(spec), "plain"));
  EXPECT_EQ(opened.status().message(),
            "tensor a: fill: the data has 4 bytes, the shape needs 4,096");
}

TEST_F(SourceOperatorTest, ComparesWithAReferenceThatWasSent) {
  v1::SourceSpec spec = spec_of(kVectorAdd, kVectorAddText);
  for (int tensor : {0, 1}) {
    spec.mutable_tensors(tensor)->clear_fill();
    spec.mutable_tensors(tensor)->mutable_fill()->set_kind("index");
  }
  std::vector<double> expected(1024);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = 2.0 * static_cast<double>(i);
  }
  expected[1000] += 0.5;
  const std::string data(reinterpret_cast<const char*>(expected.data()), 8 * expected.size());
  v1::SourceReference& reference = *spec.mutable_tensors(2)->mutable_reference();
  reference.set_file("out.npy");
  reference.set_digest(tuning::content_digest(data));
  reference.set_dtype("f64");
  reference.set_relative(0.001);
  send(data);
  v1::BitsReport bits = bits_of_baseline(define(spec), "plain");
  EXPECT_EQ(bits.failed(), v1::BITS_CHECK_UNSPECIFIED) << bits.detail();
  EXPECT_EQ(bits.tolerance_place(), "out[1000]");
  EXPECT_NEAR(bits.tolerance_used(), 0.5 / 2.0005, 1e-9);
  reference.set_relative(0.0001);
  // The data that the source before had is not sent again.
  bits = bits_of_baseline(define(spec), "plain");
  EXPECT_EQ(bits.failed(), v1::BITS_TOLERANCE) << bits.detail();
}

TEST_F(SourceOperatorTest, ShowsWhatTheCompilerWarnsOfOnce) {
  SourceCompiler compiler{SourceCompiler::Settings()};
  v1::SourceSpec spec = spec_of(kVectorAdd, std::string("#define block 64\n") + kVectorAddText);
  const auto source = SourceOperator::define(
      spec, [](const std::string& /*digest*/) { return Blob(); }, device_, compiler);
  ASSERT_TRUE(source.ok()) << source.status();
  const auto workload = (*source)->complete({});
  ASSERT_TRUE(workload.ok()) << workload.status();
  v1::Arm arm;
  arm.set_variant("plain");
  ASSERT_TRUE((*source)->plan(*workload, arm).ok());
  ASSERT_TRUE((*source)->plan(*workload, arm).ok());
  const std::string log = (*source)->take_log();
  const std::size_t first = log.find("kernel.cu(1): warning #47-D: incompatible redefinition");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("kernel.cu(1)", first + 1), std::string::npos) << log;
  EXPECT_EQ((*source)->take_log(), "");
}

TEST_F(SourceOperatorTest, HasNoChecksOfItsOwn) {
  v1::RunnerRequest request;
  request.mutable_check()->set_operator_name(define(spec_of(kVectorAdd, kVectorAddText)));
  request.mutable_check()->set_suite("parity");
  v1::RunnerReply reply;
  const absl::Status status = runner_.answer(request, reply);
  EXPECT_TRUE(is_refused(status));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace assay::profiler
