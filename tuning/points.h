// The valid configurations of a space as small integers: for each point, the place of each
// parameter's value in the parameter's list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::tuning {

class PointSet {
 public:
  // How many values each parameter has, each at most 65,535.
  explicit PointSet(std::vector<std::uint16_t> num_values) : num_values_(std::move(num_values)) {}

  // One place for each parameter.
  void add(std::span<const std::uint16_t> places) {
    places_.insert(places_.end(), places.begin(), places.end());
    ++num_points_;
  }

  std::size_t size() const { return num_points_; }

  std::size_t num_parameters() const { return num_values_.size(); }

  std::span<const std::uint16_t> num_values() const { return num_values_; }

  std::span<const std::uint16_t> operator[](std::size_t point) const {
    return std::span(places_).subspan(point * num_values_.size(), num_values_.size());
  }

 private:
  std::vector<std::uint16_t> num_values_;
  std::vector<std::uint16_t> places_;  // [size()][num_parameters()]
  std::size_t num_points_ = 0;
};

}  // namespace assay::tuning
