// A runner for tests: speaks the protocol with scripted durations and goes wrong on request. The
// axis `behaviour` of a workload says how, the axis `when` at which request. A source that says
// #error does not compile, and a workload of one with `crash` = 1 crashes. FAKE_SLOWNESS in the
// environment makes every call take so many thousandths, of code that is another.
#include "profiler/frames.h"
#include "proto/runner.pb.h"
#include "proto/text.h"
#include "tuning/content_digest.h"
#include "tuning/source_spec.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using namespace assay;

constexpr std::chrono::hours kLong{1};
constexpr std::size_t kVerboseBytes = std::size_t{256} << 10;
// A check with this seed crashes at the item of this name.
constexpr std::uint64_t kFatalSeed = 13;
constexpr std::string_view kFatalItem = "large";

v1::AxisInfo axis(const std::string& name,
                  const std::string& by_default,
                  std::initializer_list<const char*> choices,
                  std::int64_t min = 0,
                  std::int64_t max = 0) {
  v1::AxisInfo info;
  info.set_name(name);
  info.set_default_value(by_default);
  info.set_min(min);
  info.set_max(max);
  for (const char* choice : choices) {
    info.add_choices(choice);
  }
  return info;
}

void add_variant(v1::OperatorInfo& info, const std::string& name, const std::string& family) {
  v1::VariantInfo& variant = *info.add_variants();
  variant.set_name(name);
  variant.set_family(family);
  variant.add_stages("only");
  if (name == "knob") {
    *variant.add_parameters() = axis("speed", "1", {}, 1, 16);
  } else if (name != "base") {
    *variant.add_parameters() = axis("width", "4", {}, 1, 8);
  }
}

v1::RunnerReply hello(const std::string& backend) {
  v1::RunnerReply reply;
  v1::RunnerHello& message = *reply.mutable_hello();
  message.set_protocol_version(profiler::kProtocolVersion);
  message.set_pid(static_cast<std::uint32_t>(getpid()));
  v1::Device& device = *message.mutable_device();
  device.set_backend(backend);
  device.set_available(backend == "cpu");
  device.set_reason(backend == "cpu" ? "" : "no CUDA device");
  device.set_model("scripted");
  device.set_uuid("fake-uuid");
  device.set_code_version("fake");
  device.set_compiles_source(true);
  v1::OperatorInfo& info = *message.add_operators();
  info.set_name("fake");
  info.set_bits_domain("any_device");
  *info.add_axes() = axis("behaviour",
                          "ok",
                          {"ok",
                           "crash",
                           "hang",
                           "garbage",
                           "print",
                           "half_frame",
                           "close_pipe",
                           "exit",
                           "refuse",
                           "verbose",
                           "error",
                           "no_rounds"});
  *info.add_axes() = axis("when", "open", {"open", "time", "close"});
  *info.add_axes() = axis("ns", "1000000", {}, 1, 1'000'000'000);
  *info.add_axes() = axis("rows", "4", {}, 1, 100'000);
  add_variant(info, "base", "baseline");
  add_variant(info, "twin", "baseline");
  add_variant(info, "fast", "baseline");
  add_variant(info, "drift", "baseline");
  add_variant(info, "other", "other");
  add_variant(info, "knob", "baseline");
  v1::NamedWorkload& workload = *info.add_workloads();
  workload.set_name("tall");
  v1::Setting& rows = *workload.add_axes();
  rows.set_name("rows");
  rows.set_value("1000");
  for (const char* name : {"parity/small", "parity/large", "mutants/drops_one"}) {
    v1::CheckInfo& check = *info.add_checks();
    const std::string text = name;
    check.set_suite(text.substr(0, text.find('/')));
    check.set_name(text.substr(text.find('/') + 1));
  }
  return reply;
}

std::string value_of(const google::protobuf::RepeatedPtrField<v1::Setting>& settings,
                     const std::string& name) {
  for (const v1::Setting& setting : settings) {
    if (setting.name() == name) {
      return setting.value();
    }
  }
  return "";
}

std::string value_of(const v1::Workload& workload, const std::string& name) {
  return value_of(workload.axes(), name);
}

// Of the variant knob, else 0. From 13 on it goes wrong: crash, hang, no compile, other bits.
int speed_of(const v1::Arm& arm) {
  int speed = 0;
  [[maybe_unused]] const bool parsed =
      absl::SimpleAtoi(value_of(arm.parameters(), "speed"), &speed);
  return speed;
}

// In thousandths of what base takes: the fastest is 9, and 10 as fast but for noise.
std::int64_t slowness_of(const v1::Arm& arm) {
  const int speed = speed_of(arm);
  if (arm.variant() == "fast") {
    return 500;
  }
  if (speed == 0) {
    return 1'000;
  }
  return speed == 10 ? 703 : 700 + 100 * std::abs(speed - 9);
}

// A sanitizer's own handler must not turn the crash into an exit.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

// Never returns from most of what it does.
void misbehave(const std::string& behaviour, int output) {
  const auto put = [output](const std::string& text) {
    [[maybe_unused]] const ssize_t count = write(output, text.data(), text.size());
  };
  if (behaviour == "crash") {
    crash();
  } else if (behaviour == "hang") {
    while (true) {
      pause();
    }
  } else if (behaviour == "garbage") {
    put(std::string("\x05\x00\x00\x00\xff\xff\xff\xff\xff", 9));
    pause();
  } else if (behaviour == "print") {
    put("hello from a kernel\n");
  } else if (behaviour == "half_frame") {
    put(std::string("\xff\x00\x00\x00half", 8));
    _exit(0);
  } else if (behaviour == "close_pipe") {
    close(output);
    pause();
  } else if (behaviour == "exit") {
    _exit(3);
  }
}

class FakeRunner {
 public:
  FakeRunner(int input, int output, std::int64_t slowness)
      : reader_(input), output_(output), slowness_(slowness) {}

  int serve() {
    v1::RunnerRequest request;
    while (reader_.read(request, profiler::deadline_after(kLong)).ok()) {
      v1::RunnerReply reply;
      reply.set_sequence(request.sequence());
      reply.mutable_progress()->set_progress(0.5);
      send(reply);
      answer(request, reply);
      send(reply);
    }
    return 0;
  }

 private:
  void send(const v1::RunnerReply& reply) {
    if (!profiler::write_frame(output_, reply, profiler::deadline_after(kLong)).ok()) {
      _exit(0);
    }
  }

  void answer(const v1::RunnerRequest& request, v1::RunnerReply& reply) {
    if (request.has_validate()) {
      validate(request.validate(), reply);
    } else if (request.has_open()) {
      open_ = request.open();
      if (in_order("open", reply)) {
        open(reply);
      }
    } else if (request.has_time() && in_order("time", reply)) {
      time(request.time(), reply);
    } else if (request.has_close() && in_order("close", reply)) {
      reply.mutable_closed();
    } else if (request.has_blob()) {
      blobs_[request.blob().digest()] += request.blob().data();
      reply.mutable_kept();
    } else if (request.has_define()) {
      define(request.define().source(), reply);
    } else if (request.has_bench()) {
      v1::Ceiling& ceiling = *reply.mutable_benched()->add_ceilings();
      ceiling.set_name("read");
      ceiling.set_value(4.5e12);
      ceiling.set_unit("bytes/s");
    } else if (request.has_check()) {
      check(request.check(), reply);
    }
  }

  static void refuse(const std::string& message, bool refused, v1::RunnerReply& reply) {
    reply.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    reply.mutable_error()->set_message(message);
    reply.mutable_error()->set_refused(refused);
  }

  // Whether the request is to be answered as it should.
  bool in_order(const std::string& step, v1::RunnerReply& reply) {
    const std::string behaviour = value_of(open_.workload(), "behaviour");
    if (value_of(open_.workload(), "when") != step) {
      return true;
    }
    misbehave(behaviour, output_);
    if (behaviour == "verbose") {
      refuse(std::string(kVerboseBytes, 'v'), true, reply);
      return false;
    }
    if (behaviour == "refuse" || behaviour == "error") {
      refuse("scripted", behaviour == "refuse", reply);
      return false;
    }
    return true;
  }

  static void validate(const v1::RunnerValidate& asked, v1::RunnerReply& reply) {
    reply.mutable_validated();
    for (const v1::Workload& workload : asked.workloads()) {
      if (value_of(workload, "rows") == "13") {
        refuse("rows: 13 is unlucky", true, reply);
      }
    }
  }

  void fill(const v1::Arm& arm, v1::Measurement& measurement) const {
    *measurement.mutable_arm() = arm;
    measurement.set_family(arm.variant() == "other" ? "other" : "baseline");
    measurement.set_code_digest(absl::StrCat("code of ", arm.variant(), " at ", slowness_));
    measurement.set_timing_source(v1::STEADY_CLOCK);
    measurement.set_launch_mode(v1::STREAM);
    measurement.set_cache_mode(v1::HOT);
    measurement.set_num_input_sets(1);
    v1::TensorDigest& output = *measurement.add_outputs();
    output.set_tensor("out");
    output.set_dtype("f32");
    output.add_shape(4);
    output.set_num_nontrivial(4);
    const bool same =
        measurement.family() == "baseline" && arm.variant() != "drift" && speed_of(arm) != 16;
    output.set_digest(std::string(32, same ? 'a' : 'b'));
    v1::BitsReport& bits = *measurement.mutable_bits();
    bits.set_num_runs(3);
    bits.set_num_digests(1);
    bits.set_tolerance_known(true);
    bits.set_tolerance_used(0.25);
    if (!same) {
      bits.set_failed(v1::BITS_EQUAL);
      bits.set_detail("1 of 4 elements of `out` differs");
      v1::Drift& drift = *bits.mutable_drift();
      drift.set_tensor("out");
      drift.set_num_elements(4);
      drift.set_num_differing(1);
      drift.add_first_index(2);
      drift.set_drift_class(v1::LARGE);
    }
  }

  void define(const v1::SourceSpec& source, v1::RunnerReply& reply) {
    for (const v1::SourceTensor& tensor : source.tensors()) {
      const std::string& digest = tensor.fill().digest();
      if (!digest.empty() && tuning::content_digest(blobs_[digest]) != digest) {
        refuse(absl::StrCat("the data of ", tensor.name(), " is not here"), true, reply);
        return;
      }
    }
    blobs_.clear();
    source_ = source;
    *reply.mutable_defined()->mutable_operator_info() = *tuning::describe_source(source, "cpu");
  }

  // Whether what is to be opened is known, and compiles.
  bool is_there(v1::RunnerReply& reply) const {
    // Sources have an @ in their name.
    if (open_.operator_name().find('@') == std::string::npos) {
      return true;
    }
    if (source_.files().empty() || open_.operator_name() != tuning::source_operator_name(source_)) {
      refuse(absl::StrCat("no operator ", open_.operator_name()), true, reply);
      return false;
    }
    for (const v1::SourceVariant& variant : source_.variants()) {
      for (const v1::SourceFile& file : source_.files()) {
        if (variant.name() == open_.candidate().variant() && file.name() == variant.file() &&
            file.text().starts_with("#error")) {
          refuse(absl::StrCat(file.name(), "(1): error: ", file.text()), true, reply);
          reply.mutable_error()->set_failure(v1::COMPILE);
          return false;
        }
      }
    }
    if (value_of(open_.workload(), "crash") == "1") {
      crash();
    }
    return true;
  }

  void open(v1::RunnerReply& reply) {
    switch (speed_of(open_.candidate())) {
      case 13:
        crash();
        break;
      case 14:
        misbehave("hang", output_);
        break;
      case 15:
        refuse("knob.cu(3): error: expected a `;`", true, reply);
        reply.mutable_error()->set_failure(v1::COMPILE);
        return;
      default:
        break;
    }
    if (!is_there(reply)) {
      return;
    }
    v1::RunnerOpened& opened = *reply.mutable_opened();
    fill(open_.baseline(), *opened.mutable_baseline());
    // An arm alone has nothing to be equal to.
    if (!open_.has_candidate()) {
      opened.mutable_baseline()->mutable_bits()->clear_failed();
      return;
    }
    fill(open_.candidate(), *opened.mutable_candidate());
    opened.set_identical_code(proto::text_of(open_.baseline()) ==
                              proto::text_of(open_.candidate()));
  }

  void add_block(v1::Measurement& measurement,
                 const v1::Arm& arm,
                 std::uint32_t round,
                 std::uint32_t leg) const {
    const std::uint32_t num_calls = open_.num_calls() == 0 ? 20 : open_.num_calls();
    std::int64_t ns = 0;
    [[maybe_unused]] const bool parsed = absl::SimpleAtoi(value_of(open_.workload(), "ns"), &ns);
    ns = ns * slowness_of(arm) / 1'000 * slowness_ / 1'000;
    v1::Block& block = *measurement.add_blocks();
    block.set_round(round);
    block.set_leg(leg);
    block.set_num_calls(num_calls);
    if (measurement.stages().empty()) {
      measurement.add_stages()->set_stage("only");
      measurement.add_stages()->set_stage("total");
    }
    for (v1::StageSamples& stage : *measurement.mutable_stages()) {
      for (std::uint32_t call = 0; call < num_calls; ++call) {
        // Within a thousandth, in an order that neither arm follows alone.
        stage.add_samples_ns(ns + ns * ((round * 7 + leg * 3 + call * 5) % 11) / 10'000);
      }
    }
  }

  void time(const v1::RunnerTime& asked, v1::RunnerReply& reply) const {
    v1::RunnerTimed& timed = *reply.mutable_timed();
    if (value_of(open_.workload(), "behaviour") == "no_rounds") {
      return;
    }
    for (std::uint32_t i = 0; i < asked.num_rounds(); ++i) {
      const std::uint32_t round = asked.first_round() + i;
      if (open_.has_candidate()) {
        add_block(*timed.mutable_candidate(), open_.candidate(), round, 0);
        add_block(*timed.mutable_candidate(), open_.candidate(), round, 2);
      }
      add_block(*timed.mutable_baseline(), open_.baseline(), round, 1);
    }
  }

  static void check(const v1::RunnerCheck& asked, v1::RunnerReply& reply) {
    if (asked.seed() == kFatalSeed && asked.name() == kFatalItem) {
      crash();
    }
    v1::CheckResult& result = *reply.mutable_checked();
    result.set_passed(true);
    result.set_num_cases(2);
    result.set_num_nontrivial(8);
    if (asked.suite() == "mutants") {
      result.set_rejected_by(v1::BITS_EQUAL);
      return;
    }
    for (int number = 0; number < 2; ++number) {
      v1::CaseDigest& digest = *result.add_digests();
      digest.set_workload(absl::StrCat(asked.suite(), "/", asked.name(), "/", number));
      digest.set_family("baseline");
      digest.set_digest(std::string(32, number == 0 ? 'c' : 'd'));
    }
  }

  profiler::FrameReader reader_;
  int output_;
  std::int64_t slowness_;
  v1::RunnerOpen open_;
  std::map<std::string, std::string> blobs_;
  v1::SourceSpec source_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string backend = "cpu";
  std::string nonce;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--nonce" || name == "--device") {
      (name == "--nonce" ? nonce : backend) = argv[i + 1];
    }
  }
  std::int64_t slowness = 1'000;
  if (const char* text = std::getenv("FAKE_SLOWNESS");
      text != nullptr && !absl::SimpleAtoi(text, &slowness)) {
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int input = dup(STDIN_FILENO);
  const int output = dup(STDOUT_FILENO);
  close(STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto soon = profiler::deadline_after(kLong);
  if (!profiler::write_magic(output, nonce, soon).ok() ||
      !profiler::write_frame(output, hello(backend == "cpu" ? "cpu" : "cuda"), soon).ok()) {
    return 1;
  }
  return FakeRunner(input, output, slowness).serve();
}
