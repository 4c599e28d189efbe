// Storing a sweep of 100 workloads with 1,000 samples an arm, reading it back, and a page of the
// list over 100,000 experiments.
#include "db/connection.h"
#include "db/store.h"

#include "benchmark/benchmark.h"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

using namespace assay;

constexpr std::uint32_t kNumWorkloads = 100;
constexpr int kNumSamples = 1'000;  // of an arm, where a benchmark does not say
constexpr int kNumExperiments = 100'000;

// A directory that goes with the benchmark.
class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "assay_bench_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }

  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::string database() const { return (path_ / "assay.sqlite").string(); }

 private:
  std::filesystem::path path_;
};

std::unique_ptr<db::Store> open(const Directory& directory) {
  db::StoreOptions options;
  options.path = directory.database();
  options.read_deadline_ns = 60'000'000'000;
  return *db::Store::open(options);
}

v1::Measurement measurement(const std::string& variant, int num_samples) {
  v1::Measurement measurement;
  measurement.mutable_arm()->set_variant(variant);
  measurement.set_family("baseline");
  measurement.set_timing_source(v1::STEADY_CLOCK);
  v1::StageSamples& total = *measurement.add_stages();
  total.set_stage("total");
  for (int i = 0; i < num_samples; ++i) {
    total.add_samples_ns(1'234'567 + 31 * i % 997);
  }
  constexpr int kNumBlocks = 50;
  for (int i = 0; i < kNumBlocks; ++i) {
    v1::Block& block = *measurement.add_blocks();
    block.set_round(static_cast<std::uint32_t>(i));
    block.set_num_calls(20);
    block.set_started_ns(1'000'000'000'000 + i);
  }
  v1::TensorDigest& digest = *measurement.add_outputs();
  digest.set_tensor("out");
  digest.set_digest("0123456789abcdef0123456789abcdef");
  digest.add_shape(4);
  digest.add_shape(3'072);
  measurement.mutable_bits()->set_tolerance_used(0.25);
  return measurement;
}

v1::Configuration configuration(int num_samples = kNumSamples) {
  v1::Configuration configuration;
  v1::Setting& axis = *configuration.mutable_workload()->add_axes();
  axis.set_name("width");
  axis.set_value("32768");
  configuration.set_outcome(v1::FINISHED);
  *configuration.mutable_baseline() = measurement("one_cell", num_samples);
  *configuration.mutable_candidate() = measurement("two_cell", num_samples);
  v1::Verdict& verdict = *configuration.add_verdicts();
  verdict.set_verdict(v1::FASTER);
  verdict.add_stages()->set_ratio(0.93);
  return configuration;
}

// A running experiment with all its configurations; returns its id, or 0.
std::int64_t store_sweep(db::Store& store, v1::Configuration& each, int number) {
  v1::SubmitRequest request;
  request.set_request_id(std::to_string(number));
  request.mutable_spec()->set_kind(v1::COMPARE);
  const auto experiment = store.submit(request, kNumWorkloads, 1);
  if (!experiment.ok() || !store.start(experiment->experiment_id(), {}, 2).ok()) {
    return 0;
  }
  for (std::uint32_t i = 1; i <= kNumWorkloads; ++i) {
    each.set_configuration(i);
    if (!store.add_configuration(experiment->experiment_id(), each).ok()) {
      return 0;
    }
  }
  return experiment->experiment_id();
}

// range(0): samples of each of the two arms of a workload.
void store_100_workloads(benchmark::State& state) {
  const Directory directory;
  const auto store = open(directory);
  v1::Configuration each = configuration(static_cast<int>(state.range(0)));
  int number = 0;
  for (auto _ : state) {
    if (store_sweep(*store, each, ++number) == 0) {
      state.SkipWithError("not stored");
    }
  }
}

BENCHMARK(store_100_workloads)
    ->ArgName("samples")
    ->Arg(500)
    ->Arg(1'000)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void get_100_workloads(benchmark::State& state) {
  const Directory directory;
  const auto store = open(directory);
  v1::Configuration each = configuration();
  v1::GetRequest get;
  get.set_experiment_id(store_sweep(*store, each, 1));
  get.set_include_samples(state.range(0) != 0);
  for (auto _ : state) {
    if (store->get(get)->configurations_size() != static_cast<int>(kNumWorkloads)) {
      state.SkipWithError("not read");
    }
  }
}

BENCHMARK(get_100_workloads)->ArgName("samples")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// Rows by SQL: submitting so many one by one would take longer than the benchmark.
void insert_experiments(const Directory& directory) {
  const auto connection = *db::Connection::open(directory.database(), db::Connection::Mode::kWrite);
  const std::string rows =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(kNumExperiments) + ") ";
  const std::string sql =
      "INSERT INTO t_device VALUES (1, '{\"name\":\"cpu\",\"backend\":\"cpu\"}');"
      "BEGIN;" +
      rows +
      "INSERT INTO t_experiment (experiment_id, request_id, kind, operator_name, device, label,"
      " device_id, spec, state, message, submitted_ns, started_ns, finished_ns, num_configurations,"
      " num_finished, \"commit\", branch, severity, variants) SELECT i, 'request ' || i, 'COMPARE',"
      " 'qsa_decode', iif(i = 9, 'cuda7', 'cuda0'), '', 1, "
      "'{\"kind\":\"COMPARE\",\"operator_name\":\"qsa_decode\","
      "\"axes\":[{\"name\":\"width\",\"values\":[\"2051\",\"32768\"]}],"
      "\"baseline\":{\"variant\":\"one_cell\"},\"candidates\":[{\"variant\":\"two_cell\"}]}',"
      " iif(i = 5, 'FAILED', 'DONE'), '', i, i, i, 8, 8,"
      " substr('0000000000000000000000000000000000000000' || hex(i), -40), iif(i = 7, 'side', "
      "'main'),"
      " iif(i = 3, 1, 5), iif(i = 4, '[\"lane_cell\"]', '[\"one_cell\",\"two_cell\"]') FROM n;" +
      rows +
      "INSERT INTO t_configuration (configuration_id, experiment_id, configuration, workload_text,"
      " outcome, message, elapsed_ns, stopped_because) SELECT 8 * i + j, i, j + 1, '', 'FINISHED',"
      " '', 1000, '' FROM n, (SELECT value AS j FROM json_each('[0,1,2,3,4,5,6,7]'));" +
      rows +
      "INSERT INTO t_label SELECT i, 'pr', i % 1000 FROM n;"
      "INSERT INTO t_label VALUES (6, 'nightly', '');"
      "INSERT INTO t_series VALUES (1, '', '', '', '', '', '', '', '', '', '');"
      "INSERT INTO t_change VALUES (1, 8, 'TIME_CHANGED', ''); COMMIT;";
  if (const absl::Status status = connection->execute(sql); !status.ok()) {
    std::abort();
  }
}

void list_page(benchmark::State& state, const v1::ListRequest& request) {
  static const Directory directory;
  static const auto store = [] {
    auto opened = open(directory);
    insert_experiments(directory);
    return opened;
  }();
  for (auto _ : state) {
    const auto page = store->list(request);
    if (!page.ok() || page->experiments().empty()) {
      state.SkipWithError("not listed");
    }
  }
}

v1::ListRequest page(const std::string& token,
                     v1::TaskState task_state,
                     std::uint32_t size,
                     const std::string& device = "") {
  v1::ListRequest request;
  request.set_page_token(token);
  request.set_state(task_state);
  request.set_page_size(size);
  request.set_device(device);
  return request;
}

// Of filters that one of the oldest experiments alone passes, so that all are looked at.
template <typename Change>
v1::ListRequest filtered(const Change& change) {
  v1::ListRequest request;
  change(request);
  return request;
}

v1::ListRequest labelled(const std::string& name, const std::string& value) {
  v1::ListRequest request;
  v1::Setting& label = *request.add_labels();
  label.set_name(name);
  label.set_value(value);
  return request;
}

BENCHMARK_CAPTURE(list_page, newest, page("", v1::TASK_STATE_UNSPECIFIED, 0))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, in_the_middle, page("e50000", v1::DONE, 0))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, rare_state, page("", v1::FAILED, 0))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, rare_device, page("", v1::DONE, 0, "cuda7"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, largest, page("", v1::TASK_STATE_UNSPECIFIED, 1'000))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, rare_verdict, filtered([](auto& request) {
                    request.set_verdict(v1::REJECTED);
                  })) -> Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, rare_variant, filtered([](auto& request) {
                    request.set_variant("lane_cell");
                  })) -> Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, rare_branch, filtered([](auto& request) {
                    request.set_branch("side");
                  })) -> Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, old_commit, filtered([](auto& request) {
                    request.set_commit("0000000000000000000000000000000000000031");
                  })) -> Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, until_long_ago, filtered([](auto& request) {
                    request.set_submitted_before_ns(3);
                  })) -> Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, only_changes, filtered([](auto& request) {
                    request.set_only_changes(true);
                  })) -> Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, rare_label, labelled("nightly", ""))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, one_in_1000_labels, labelled("pr", "7"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_page, all_at_once, filtered([](auto& request) {
                    request = labelled("pr", "8");
                    request.set_only_changes(true);
                    request.set_variant("two_cell");
                    request.set_commit("0000");
                    request.set_branch("main");
                    request.set_verdict(v1::FASTER);
                  })) -> Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
