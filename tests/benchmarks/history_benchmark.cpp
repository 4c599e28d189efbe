// usage: history_benchmark [NUM_EXPERIMENTS [DATABASE]]
//
// What the past costs to ask: a database of 100,000 experiments with 100 samples each, in 200
// series; how long pages of the list, trends and queries take, at the median and the 95th of 100;
// how memory grows meanwhile; and one minute of four writers and eight readers at once. With
// DATABASE, a path where nothing is yet, only that is made: first_view.mjs shows it in a browser.
#include "db/store.h"
#include "server/points.h"
#include "server/trends.h"
#include "tests/temporary_folder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace assay {
namespace {

constexpr int kNumSeries = 200;
constexpr int kNumSamples = 50;  // of an arm
constexpr int kNumRuns = 100;
constexpr int kNumWriters = 4;
constexpr int kNumReaders = 8;
constexpr std::chrono::seconds kTogether{60};
constexpr std::int64_t kDayNs = 86'400'000'000'000;

template <typename Value>
Value need(absl::StatusOr<Value> value) {
  if (!value.ok()) {
    std::cerr << value.status() << "\n";
    std::exit(1);
  }
  return *std::move(value);
}

void need(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << status << "\n";
    std::exit(1);
  }
}

v1::Device device() {
  v1::Device device;
  device.set_name("cuda");
  device.set_backend("cuda");
  device.set_model("A made-up card");
  device.set_uuid("GPU-0");
  device.set_driver_version("1.2");
  return device;
}

void fill(v1::Measurement& measurement,
          const std::string& variant,
          std::int64_t level_ns,
          int run) {
  measurement.mutable_arm()->set_variant(variant);
  measurement.set_family("baseline");
  measurement.set_code_digest("0123456789abcdef0123456789abcdef");
  measurement.set_timing_source(v1::CUPTI_ACTIVITY);
  measurement.set_launch_mode(v1::STREAM);
  measurement.set_cache_mode(v1::COLD);
  v1::StageSamples& total = *measurement.add_stages();
  total.set_stage("total");
  v1::Block& block = *measurement.add_blocks();
  block.set_num_calls(kNumSamples);
  for (int i = 0; i < kNumSamples; ++i) {
    total.add_samples_ns(level_ns + (run * 7'919 + i * 104'729) % (level_ns / 50));
  }
  v1::TensorDigest& digest = *measurement.add_outputs();
  digest.set_tensor("out");
  digest.set_digest("00112233445566778899aabbccddeeff");
}

// Run `run` of series run % kNumSeries, which became 5 % slower in its second half.
void add(db::Store& store, const std::string& prefix, int run, int num_runs) {
  const int series = run % kNumSeries;
  const bool is_late = run > num_runs / 2;
  v1::SubmitRequest request;
  request.set_request_id(prefix + std::to_string(run));
  v1::ExperimentSpec& spec = *request.mutable_spec();
  spec.set_kind(v1::COMPARE);
  spec.set_operator_name("op" + std::to_string(series % 10));
  spec.set_device("cuda");
  spec.mutable_baseline()->set_variant("base");
  spec.add_candidates()->set_variant("fast");
  spec.mutable_context()->set_commit("abcdef" + std::to_string(1'000'000 + run / kNumSeries));
  spec.mutable_context()->set_branch(run % 3 == 0 ? "main" : "work");
  v1::Setting& label = *spec.mutable_context()->add_labels();
  label.set_name("nightly");
  label.set_value(std::to_string(run % 7));
  const std::int64_t now_ns = 1'700'000'000'000'000'000 + run * (kDayNs / kNumSeries);
  const std::int64_t id = need(store.submit(request, 1, now_ns)).experiment_id();
  need(store.start(id, device(), now_ns + 1));
  v1::Configuration configuration;
  configuration.set_configuration(1);
  configuration.set_outcome(v1::FINISHED);
  v1::Setting& axis = *configuration.mutable_workload()->add_axes();
  axis.set_name("width");
  axis.set_value(std::to_string(series / 10));
  const std::int64_t level_ns = (50'000 + 1'000 * series) * (is_late ? 105 : 100) / 100;
  fill(*configuration.mutable_baseline(), "base", level_ns, run);
  fill(*configuration.mutable_candidate(), "fast", level_ns / 2, run);
  v1::Verdict& verdict = *configuration.add_verdicts();
  verdict.set_verdict(run % 97 == 0 ? v1::REJECTED : v1::FASTER);
  need(store.add_measured(id, configuration, server::points_of(spec, device(), configuration)));
  need(store.finish(id, v1::DONE, "", now_ns + 2));
}

std::int64_t resident_kib() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  in >> total >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1'024);
}

void time(const std::string& what, const std::function<void()>& ask) {
  std::vector<double> times_ms;
  ask();
  const std::int64_t before = resident_kib();
  for (int i = 0; i < kNumRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ask();
    times_ms.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::sort(times_ms);
  std::cout << what << ": median " << times_ms[kNumRuns / 2] << " ms, 95th "
            << times_ms[kNumRuns * 95 / 100] << " ms, resident " << before / 1'024 << " -> "
            << resident_kib() / 1'024 << " MiB" << std::endl;
}

void time_lists(const db::Store& store) {
  const auto page = [&](const v1::ListRequest& request) {
    return [&store, request] { need(store.list(request)); };
  };
  v1::ListRequest request;
  time("list, the newest 50", page(request));
  request.set_operator_name("op3");
  request.set_variant("fast");
  time("list of an operator and a variant", page(request));
  request.Clear();
  request.set_verdict(v1::REJECTED);
  time("list of what was rejected", page(request));
  request.Clear();
  request.set_commit("abcdef1000010");
  time("list of an old commit", page(request));
  request.Clear();
  v1::Setting& label = *request.add_labels();
  label.set_name("nightly");
  label.set_value("3");
  time("list of a label", page(request));
  request.Clear();
  request.set_branch("nowhere");
  time("list of a branch that is not there", page(request));
  request.Clear();
  request.set_only_changes(true);
  time("list of changes", page(request));
}

void time_trends(const db::Store& store) {
  v1::ListSeriesRequest list;
  time("list of series", [&] { need(store.list_series(list)); });
  const v1::ListSeriesResponse series = need(store.list_series(list));
  for (const std::uint32_t most : {500U, 1'000U}) {
    v1::TrendRequest request;
    request.set_series_id(series.series(0).series_id());
    request.set_max_points(most);
    time("trend of at most " + std::to_string(most) + " points",
         [&] { need(server::trend(store, request, nullptr)); });
  }
  time("regressions", [&] { need(store.list_regressions({})); });
  time("history of bits", [&] { need(store.bit_history({})); });
}

void time_queries(const db::Store& store) {
  for (const std::string sql :
       {"SELECT count(*) FROM experiments",
        "SELECT operator_name, count(*), avg(median_ns) FROM points WHERE series_id < 5"
        " GROUP BY operator_name",
        "SELECT e.experiment_id, v.verdict, v.reason FROM experiments e JOIN verdicts v"
        " USING (experiment_id) WHERE e.experiment_id > 99000 AND v.verdict = 'REJECTED'",
        "SELECT sample, sample_ns FROM samples WHERE experiment_id = 5000"}) {
    v1::QueryRequest request;
    request.set_sql(sql);
    time("query " + sql.substr(0, 60), [&] {
      need(store.query(
          request,
          {.has_left = [] { return false; }, .write = [](const v1::QueryChunk&) { return true; }}));
    });
  }
}

// No call may fail, and nothing that was written may be missing.
void work_together(db::Store& store, int num_before) {
  std::atomic<bool> is_over = false;
  std::atomic<int> num_added = 0;
  std::atomic<int> num_read = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kNumWriters; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; !is_over; ++run) {
        add(store, "writer" + std::to_string(i) + "/", run, 1);
        ++num_added;
      }
    });
  }
  for (int i = 0; i < kNumReaders; ++i) {
    threads.emplace_back([&, i] {
      for (; !is_over; ++num_read) {
        v1::GetRequest get;
        get.set_experiment_id(1 + (num_read * 37) % num_before);
        i % 2 == 0 ? static_cast<void>(need(store.list({})))
                   : static_cast<void>(need(store.get(get)));
      }
    });
  }
  std::this_thread::sleep_for(kTogether);
  is_over = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::int64_t num_found = 0;
  for (const auto& [state, num] : need(store.figures()).num_experiments) {
    num_found += num;
  }
  std::cout << kNumWriters << " writers and " << kNumReaders << " readers for " << kTogether.count()
            << " s: " << num_added << " experiments added, " << num_read << " reads, none failed; "
            << num_found - num_before - num_added << " experiments are missing or too many"
            << std::endl;
}

int run(int num_experiments, const std::string& kept) {
  if (!kept.empty() && std::filesystem::exists(kept)) {
    std::cerr << kept << ": is there already\n";
    return 2;
  }
  const Folder folder;
  const std::unique_ptr<db::Store> store = need(db::Store::open(
      {.path = kept.empty() ? folder / "assay.db" : kept, .read_deadline_ns = 60'000'000'000}));
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < num_experiments; ++run) {
    add(*store, "", run, num_experiments);
  }
  std::cout << num_experiments << " experiments, "
            << std::int64_t{2} * kNumSamples * num_experiments << " samples stored in "
            << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()
            << " s, " << need(store->figures()).database_bytes / 1'000'000 << " MB" << std::endl;
  if (!kept.empty()) {
    return 0;
  }
  time_lists(*store);
  time_trends(*store);
  time_queries(*store);
  work_together(*store, num_experiments);
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  return assay::run(argc > 1 ? std::atoi(argv[1]) : 100'000, argc > 2 ? argv[2] : "");
}
