#include "client/history_text.h"

#include "client/context_text.h"
#include "client/listed_text.h"
#include "client/numbers.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <vector>

namespace assay::client {
namespace {

using Goldens = google::protobuf::RepeatedPtrField<v1::Golden>;

std::string figures_text(const v1::Golden& golden) {
  return absl::StrJoin(golden.figures(), ", ", [](std::string* text, const v1::Setting& figure) {
    absl::StrAppend(text, figure.name(), "=", figure.value());
  });
}

std::string goldens_list(const Goldens& goldens, Format format) {
  const bool is_raw = format == Format::kCsv;
  const auto shown = [is_raw](const std::string& digest) {
    return is_raw ? digest : digest_prefix(digest);
  };
  std::vector<ListedRow> rows;
  for (const v1::Golden& golden : goldens) {
    const bool from_file = golden.epoch() == 0;
    rows.push_back({golden.operator_name(),
                    "",
                    golden.workload(),
                    {from_file ? "file" : absl::StrCat(golden.epoch()),
                     time_text(golden.accepted_ns()),
                     from_file ? "-" : absl::StrCat(golden.experiment_id()),
                     golden.tensor(),
                     golden.family(),
                     golden.domain(),
                     shown(golden.digest()),
                     shown(golden.replaced_digest()),
                     figures_text(golden),
                     golden.reason()}});
  }
  return listed_text(
      {{"epoch", Align::kRight},
       {"accepted"},
       {"experiment", Align::kRight},
       {"tensor"},
       {"family"},
       {"domain"},
       {"digest"},
       {"replaced"},
       {"figures"},
       {"reason"}},
      rows,
      {{"operator", &ListedRow::operator_name, 3}, {"workload", &ListedRow::workload, 4}},
      format);
}

// Raw values under the names of the data model.
std::string experiments_csv(const v1::ListResponse& response) {
  Table table{{{"experiment_id"},
               {"state"},
               {"kind"},
               {"operator_name"},
               {"device"},
               {"num_finished"},
               {"num_configurations"},
               {"worst_verdict"},
               {"submitted_ns"},
               {"started_ns"},
               {"finished_ns"},
               {"label"},
               {"message"},
               {"commit"},
               {"dirty"},
               {"branch"},
               {"labels"},
               {"note"}},
              {}};
  for (const v1::Experiment& experiment : response.experiments()) {
    const v1::ExperimentSpec& spec = experiment.spec();
    table.rows.push_back({absl::StrCat(experiment.experiment_id()),
                          v1::TaskState_Name(experiment.state()),
                          v1::ExperimentKind_Name(spec.kind()),
                          spec.operator_name(),
                          spec.device(),
                          absl::StrCat(experiment.num_finished()),
                          absl::StrCat(experiment.num_configurations()),
                          v1::VerdictKind_Name(experiment.worst_verdict()),
                          absl::StrCat(experiment.submitted_ns()),
                          absl::StrCat(experiment.started_ns()),
                          absl::StrCat(experiment.finished_ns()),
                          spec.label(),
                          experiment.message(),
                          spec.context().commit(),
                          spec.context().dirty() ? "true" : "false",
                          spec.context().branch(),
                          labels_text(spec.context()),
                          spec.context().note()});
  }
  return csv_text(table);
}

// The free text, then the others.
std::string all_labels(const v1::ExperimentSpec& spec) {
  const std::string labels = labels_text(spec.context());
  return absl::StrCat(spec.label(), spec.label().empty() || labels.empty() ? "" : ", ", labels);
}

// The verdicts of a sweep are steps of its races, but for what was rejected.
std::string worst_text(const v1::Experiment& experiment) {
  const bool is_step =
      experiment.spec().kind() == v1::SWEEP && experiment.worst_verdict() != v1::REJECTED;
  return is_step || experiment.worst_verdict() == v1::VERDICT_KIND_UNSPECIFIED
             ? "-"
             : proto::spoken(v1::VerdictKind_Name(experiment.worst_verdict()));
}

}  // namespace

std::string experiments_text(const v1::ListResponse& response, Format format) {
  if (format == Format::kCsv) {
    return experiments_csv(response);
  }
  Table table{{{"id", Align::kRight},
               {"state"},
               {"kind"},
               {"operator"},
               {"device"},
               {"finished", Align::kRight},
               {"worst verdict"},
               {"submitted (UTC)"},
               {"commit"},
               {"labels"}},
              {}};
  for (const v1::Experiment& experiment : response.experiments()) {
    const v1::ExperimentSpec& spec = experiment.spec();
    table.rows.push_back(
        {absl::StrCat(experiment.experiment_id()),
         proto::spoken(v1::TaskState_Name(experiment.state())),
         proto::spoken(v1::ExperimentKind_Name(spec.kind())),
         spec.operator_name().empty() ? "-" : spec.operator_name(),
         spec.device(),
         absl::StrCat(experiment.num_finished(), "/", experiment.num_configurations()),
         worst_text(experiment),
         time_text(experiment.submitted_ns()),
         short_commit_text(spec.context()),
         all_labels(spec)});
  }
  return table_text(table, format);
}

std::string goldens_text(const v1::ListGoldensResponse& response, Format format) {
  return goldens_list(response.goldens(), format);
}

std::string accepted_text(const v1::AcceptBitsResponse& response, Format format) {
  std::string changed = goldens_list(response.goldens(), format);
  if (format == Format::kCsv) {
    return changed;
  }
  return absl::StrCat(response.goldens().empty() ? "" : changed + "\n",
                      "epoch ",
                      with_commas(response.epoch()),
                      ": ",
                      counted(response.goldens_size(), "digest"),
                      " changed, ",
                      with_commas(response.num_unchanged()),
                      " unchanged\n");
}

}  // namespace assay::client
