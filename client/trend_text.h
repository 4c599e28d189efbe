// Times over runs as people and programs read them.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <span>
#include <string>

namespace assay::client {

// Points with a mark where the level changes, then the levels; the table begins with a line of
// bars. CSV has one row a point, raw, of all trends.
std::string trends_text(const v1::TrendResponse& response, Format format);

std::string series_list_text(const v1::ListSeriesResponse& response, Format format);

// One bar a point, the longest for the largest; at most `most`, the last ones.
std::string sparkline(const google::protobuf::RepeatedPtrField<v1::SeriesPoint>& points, int most);

}  // namespace assay::client
