#include "client/trend_text.h"

#include "client/listed_text.h"
#include "client/numbers.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

constexpr int kMostBars = 60;
constexpr std::size_t kCommitDigits = 10;

using Points = google::protobuf::RepeatedPtrField<v1::SeriesPoint>;

std::string modes_text(const v1::Series& series) {
  return absl::StrCat(proto::spoken(v1::CacheMode_Name(series.cache_mode())),
                      ", ",
                      proto::spoken(v1::LaunchMode_Name(series.launch_mode())),
                      ", ",
                      proto::spoken(v1::TimingSource_Name(series.timing_source())));
}

std::string arm_text(const v1::Series& series) {
  return series.arm().empty() ? series.variant() : series.arm();
}

std::string commit_text(const v1::SeriesPoint& point) {
  return point.commit().empty()
             ? "-"
             : absl::StrCat(point.commit().substr(0, kCommitDigits), point.dirty() ? "+" : "");
}

std::string change_text(const v1::ChangePoint& change) {
  return change.pending() ? absl::StrCat(estimate_text(change.ratio()), ", pending")
                          : absl::StrCat(ratio_text(change.ratio()),
                                         " ",
                                         interval_text(change.ratio_low(), change.ratio_high()));
}

// Of the change that begins at a point; empty: none does.
std::string change_at(const v1::Trend& trend, int place) {
  for (const v1::ChangePoint& change : trend.change_points()) {
    if (static_cast<int>(change.first()) == place) {
      return change_text(change);
    }
  }
  return "";
}

// Whole digests say to people no more than their first digits.
std::string with_short_digests(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr std::size_t kLeastDigits = 32;
  std::string shorter;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(kDigits, begin), text.size());
    const std::string digits = text.substr(begin, end - begin);
    absl::StrAppend(&shorter,
                    digits.size() < kLeastDigits ? digits : digest_prefix(digits),
                    text.substr(end, 1));
    begin = end + 1;
  }
  return shorter;
}

std::string events_at(const v1::Trend& trend, int place) {
  std::vector<std::string> texts;
  if (trend.points(place).rejected()) {
    texts.emplace_back("rejected");
  }
  for (const v1::SeriesEvent& event : trend.events()) {
    if (static_cast<int>(event.point()) == place && event.kind() != v1::TIME_CHANGED) {
      texts.push_back(absl::StrCat(proto::spoken(v1::SeriesEventKind_Name(event.kind())),
                                   ": ",
                                   one_line(with_short_digests(event.detail()))));
    }
  }
  return absl::StrJoin(texts, "; ");
}

Table points_table(const v1::Trend& trend) {
  Table table{{{""},
               {"experiment", Align::kRight},
               {"measured (UTC)"},
               {"commit"},
               {"branch"},
               {"median us", Align::kRight},
               {"quartiles us", Align::kRight}},
              {}};
  const bool is_best = trend.series().arm().empty();
  if (is_best) {
    table.columns.push_back({"arm"});
  }
  table.columns.push_back({"new/old"});
  table.columns.push_back({"events"});
  for (int i = 0; i < trend.points_size(); ++i) {
    const v1::SeriesPoint& point = trend.points(i);
    const std::string change = change_at(trend, i);
    std::vector<std::string> row = {change.empty() ? "" : "*",
                                    absl::StrCat(point.experiment_id()),
                                    time_text(point.measured_ns()),
                                    commit_text(point),
                                    point.branch().empty() ? "-" : one_line(point.branch()),
                                    in_microseconds(point.median_ns()),
                                    absl::StrCat(in_microseconds(point.lower_quartile_ns()),
                                                 " to ",
                                                 in_microseconds(point.upper_quartile_ns()))};
    if (is_best) {
      row.push_back(point.arm());
    }
    row.push_back(change);
    row.push_back(events_at(trend, i));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table segments_table(const v1::Trend& trend) {
  Table table{{{"from", Align::kRight},
               {"to", Align::kRight},
               {"points", Align::kRight},
               {"level us", Align::kRight},
               {"noise", Align::kRight}},
              {}};
  for (const v1::Segment& segment : trend.segments()) {
    table.rows.push_back(
        {absl::StrCat(trend.points(static_cast<int>(segment.first())).experiment_id()),
         absl::StrCat(trend.points(static_cast<int>(segment.last())).experiment_id()),
         absl::StrCat(segment.last() - segment.first() + 1),
         in_microseconds(segment.level_ns()),
         percent_text(segment.noise())});
  }
  return table;
}

std::string trend_text(const v1::Trend& trend, Format format) {
  const v1::Series& series = trend.series();
  std::string text = absl::StrCat(series.operator_name(),
                                  " ",
                                  arm_text(series),
                                  ", ",
                                  series.stage(),
                                  "\n",
                                  series.workload(),
                                  "\n",
                                  series.device_model(),
                                  " (",
                                  series.device_uuid(),
                                  "), ",
                                  modes_text(series),
                                  "\n",
                                  counted(trend.points_size(), "point"));
  absl::StrAppend(&text,
                  trend.missing().empty()
                      ? absl::StrCat(", noise ", percent_text(trend.noise()), " a run\n")
                      : absl::StrCat("; no levels: ", trend.missing(), "\n"));
  if (format == Format::kTable) {
    absl::StrAppend(&text, sparkline(trend.points(), kMostBars), "\n");
  }
  absl::StrAppend(&text, "\n", table_text(points_table(trend), format));
  if (!trend.segments().empty()) {
    absl::StrAppend(&text, "\n", table_text(segments_table(trend), format));
  }
  return text;
}

// Raw values under the names of the data model.
std::string trends_csv(const v1::TrendResponse& response) {
  Table table{{{"series_id"},
               {"operator_name"},
               {"workload"},
               {"stage"},
               {"variant"},
               {"arm"},
               {"device_uuid"},
               {"cache_mode"},
               {"launch_mode"},
               {"timing_source"},
               {"experiment_id"},
               {"configuration"},
               {"role"},
               {"measured_ns"},
               {"commit"},
               {"committed_ns"},
               {"dirty"},
               {"branch"},
               {"median_ns"},
               {"lower_quartile_ns"},
               {"upper_quartile_ns"},
               {"num_samples"},
               {"code_digest"},
               {"bits_digest"},
               {"family"},
               {"num_registers"},
               {"local_bytes"},
               {"rejected"},
               {"is_change"},
               {"is_pending"}},
              {}};
  for (const v1::Trend& trend : response.trends()) {
    const v1::Series& series = trend.series();
    for (int i = 0; i < trend.points_size(); ++i) {
      const v1::SeriesPoint& point = trend.points(i);
      const auto change = std::ranges::find_if(trend.change_points(), [i](const auto& candidate) {
        return static_cast<int>(candidate.first()) == i;
      });
      const bool is_change = change != trend.change_points().end();
      table.rows.push_back({absl::StrCat(series.series_id()),
                            series.operator_name(),
                            series.workload(),
                            series.stage(),
                            series.variant(),
                            point.arm(),
                            series.device_uuid(),
                            v1::CacheMode_Name(series.cache_mode()),
                            v1::LaunchMode_Name(series.launch_mode()),
                            v1::TimingSource_Name(series.timing_source()),
                            absl::StrCat(point.experiment_id()),
                            absl::StrCat(point.configuration()),
                            point.role(),
                            absl::StrCat(point.measured_ns()),
                            point.commit(),
                            absl::StrCat(point.committed_ns()),
                            absl::StrCat(static_cast<int>(point.dirty())),
                            point.branch(),
                            absl::StrCat(point.median_ns()),
                            absl::StrCat(point.lower_quartile_ns()),
                            absl::StrCat(point.upper_quartile_ns()),
                            absl::StrCat(point.num_samples()),
                            point.code_digest(),
                            point.bits_digest(),
                            point.family(),
                            absl::StrCat(point.num_registers()),
                            absl::StrCat(point.local_bytes()),
                            absl::StrCat(static_cast<int>(point.rejected())),
                            absl::StrCat(static_cast<int>(is_change)),
                            absl::StrCat(static_cast<int>(is_change && change->pending()))});
    }
  }
  return csv_text(table);
}

}  // namespace

std::string trends_text(const v1::TrendResponse& response, Format format) {
  if (format == Format::kCsv) {
    return trends_csv(response);
  }
  std::vector<std::string> texts;
  for (const v1::Trend& trend : response.trends()) {
    texts.push_back(trend_text(trend, format));
  }
  return absl::StrJoin(texts, "\n");
}

std::string series_list_text(const v1::ListSeriesResponse& response, Format format) {
  const bool is_raw = format == Format::kCsv;
  std::vector<ListedRow> rows;
  for (const v1::Series& series : response.series()) {
    rows.push_back({series.operator_name(),
                    is_raw ? series.device_uuid() : series.device_model(),
                    series.workload(),
                    {absl::StrCat(series.series_id()),
                     arm_text(series),
                     series.stage(),
                     modes_text(series),
                     absl::StrCat(series.num_points()),
                     absl::StrCat(series.newest_experiment_id())}});
  }
  return listed_text({{"series", Align::kRight},
                      {"arm"},
                      {"stage"},
                      {"modes"},
                      {"points", Align::kRight},
                      {"newest", Align::kRight}},
                     rows,
                     {{"operator", &ListedRow::operator_name, 1},
                      {"workload", &ListedRow::workload, 3},
                      {"device", &ListedRow::device, 5}},
                     format);
}

std::string sparkline(const Points& points, int most) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const int first = std::max(0, points.size() - most);
  if (first == points.size()) {
    return "";
  }
  const auto [low, high] =
      std::minmax_element(points.begin() + first, points.end(), [](const auto& a, const auto& b) {
        return a.median_ns() < b.median_ns();
      });
  const auto range = static_cast<double>(high->median_ns() - low->median_ns());
  std::string text;
  for (int i = first; i < points.size(); ++i) {
    const auto above = static_cast<double>(points[i].median_ns() - low->median_ns());
    text += kBars.at(range > 0 ? static_cast<std::size_t>(std::lround(above / range * 7)) : 0);
  }
  return text;
}

}  // namespace assay::client
