#include "tuning/space.h"

#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace assay::tuning {
namespace {

// The order in which parameters are bound; level d has d of them bound.
struct Order {
  std::vector<std::size_t> parameters;
  std::vector<std::vector<std::size_t>> restrictions;  // those that level d is the first to know
  std::vector<std::int64_t> num_below;                 // combinations of what is unbound at level d
  std::size_t settled = 0;                             // no restriction comes behind this level
};

Order make_order(const SearchSpace& space,
                 std::vector<std::size_t> parameters,
                 std::span<const std::size_t> restrictions) {
  const std::size_t num = parameters.size();
  Order order{std::move(parameters), {}, {}, 0};
  order.restrictions.resize(num + 1);
  order.num_below.assign(num + 1, 1);
  std::vector<std::size_t> levels(space.parameters().size(), 0);
  for (std::size_t i = num; i > 0; --i) {
    const std::size_t parameter = order.parameters[i - 1];
    levels[parameter] = i;
    order.num_below[i - 1] =
        order.num_below[i] * static_cast<std::int64_t>(space.parameters()[parameter].values.size());
  }
  for (const std::size_t restriction : restrictions) {
    std::size_t level = 0;
    for (const std::size_t parameter : space.restrictions()[restriction].expression.used()) {
      level = std::max(level, levels[parameter]);
    }
    order.restrictions[level].push_back(restriction);
    order.settled = std::max(order.settled, level);
  }
  return order;
}

// A search without its end: `reached` gets the level and the values where a configuration, or all
// that are below the settled level, is known to be valid, and says whether to go on.
class Search {
 public:
  using Reached = std::function<bool(std::size_t level, const TuningValues& values)>;

  Search(const SearchSpace& space, const Order& order, std::size_t end, Reached reached)
      : space_(space),
        order_(order),
        end_(end),
        reached_(std::move(reached)),
        values_(space.parameters().size()),
        removed_(space.restrictions().size(), 0) {}

  absl::Status run() {
    ASSAY_ASSIGN_OR_RETURN(const bool goes_on, descend(0));
    (void)goes_on;
    return absl::OkStatus();
  }

  const std::vector<std::int64_t>& removed() const { return removed_; }

 private:
  absl::StatusOr<bool> descend(std::size_t level) {
    const absl::Status doubt_above = doubt_;
    ASSAY_ASSIGN_OR_RETURN(const bool is_let_through, restricted(level));
    bool goes_on = true;
    if (is_let_through) {
      ASSAY_ASSIGN_OR_RETURN(goes_on, level == end_ ? reach(level) : branch(level));
    }
    doubt_ = doubt_above;
    return goes_on;
  }

  absl::StatusOr<bool> restricted(std::size_t level) {
    for (const std::size_t index : order_.restrictions[level]) {
      const absl::StatusOr<bool> holds =
          space_.holds(space_.restrictions()[index], values_, &num_steps_);
      if (num_steps_ > space_.max_steps()) {
        return absl::ResourceExhaustedError(
            absl::StrCat("the restrictions need more than ",
                         proto::with_commas(space_.max_steps()),
                         " steps to evaluate; use fewer values, or restrictions of fewer "
                         "parameters"));
      }
      if (!holds.ok()) {
        doubt_ = doubt_.ok() ? holds.status() : doubt_;
      } else if (!*holds) {
        removed_[index] += order_.num_below[level];
        return false;
      }
    }
    return true;
  }

  absl::StatusOr<bool> reach(std::size_t level) {
    ASSAY_RETURN_IF_ERROR(doubt_);
    return reached_(level, values_);
  }

  absl::StatusOr<bool> branch(std::size_t level) {
    const std::size_t parameter = order_.parameters[level];
    for (const Value& value : space_.parameters()[parameter].values) {
      values_[parameter] = value;
      ASSAY_ASSIGN_OR_RETURN(const bool goes_on, descend(level + 1));
      if (!goes_on) {
        return false;
      }
    }
    return true;
  }

  const SearchSpace& space_;
  const Order& order_;
  std::size_t end_;
  Reached reached_;
  TuningValues values_;
  absl::Status doubt_;  // the first restriction without a value above here
  std::vector<std::int64_t> removed_;
  std::int64_t num_steps_ = 0;
};

std::vector<std::size_t> first_indices(std::size_t num) {
  std::vector<std::size_t> indices(num);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

Order file_order(const SearchSpace& space) {
  return make_order(
      space, first_indices(space.parameters().size()), first_indices(space.restrictions().size()));
}

// Restrictions that share a parameter, directly or through others.
std::vector<std::vector<std::size_t>> joined_restrictions(const SearchSpace& space) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t index = 0; index < space.restrictions().size(); ++index) {
    std::vector<std::size_t> joined = {index};
    const auto& used = space.restrictions()[index].expression.used();
    const auto shares = [&](std::size_t other) {
      const auto& others = space.restrictions()[other].expression.used();
      return std::ranges::find_first_of(used, others) != used.end();
    };
    std::vector<std::vector<std::size_t>> rest;
    for (std::vector<std::size_t>& group : groups) {
      if (std::ranges::any_of(group, shares)) {
        joined.insert(joined.end(), group.begin(), group.end());
      } else {
        rest.push_back(std::move(group));
      }
    }
    std::ranges::sort(joined);
    rest.push_back(std::move(joined));
    groups = std::move(rest);
  }
  std::ranges::sort(groups);
  return groups;
}

// Next come always the parameters of the restriction that has the fewest combinations left to bind.
std::vector<std::size_t> soonest_parameters(const SearchSpace& space,
                                            std::vector<std::size_t> restrictions) {
  std::vector<std::size_t> order;
  const auto is_unbound = [&](std::size_t parameter) {
    return std::ranges::find(order, parameter) == order.end();
  };
  const auto num_unbound = [&](std::size_t restriction) {
    double num = 1;
    for (const std::size_t parameter : space.restrictions()[restriction].expression.used()) {
      num *= is_unbound(parameter)
                 ? static_cast<double>(space.parameters()[parameter].values.size())
                 : 1;
    }
    return num;
  };
  while (!restrictions.empty()) {
    const auto next = std::ranges::min_element(restrictions, {}, num_unbound);
    for (const std::size_t parameter : space.restrictions()[*next].expression.used()) {
      if (is_unbound(parameter)) {
        order.push_back(parameter);
      }
    }
    restrictions.erase(next);
  }
  return order;
}

// Counts one group and takes its share of `count`, in which it is still whole.
absl::Status count_group(const SearchSpace& space,
                         const std::vector<std::size_t>& restrictions,
                         SpaceCount& count) {
  const Order order = make_order(space, soonest_parameters(space, restrictions), restrictions);
  Search search(space, order, order.settled, [](std::size_t, const TuningValues&) { return true; });
  ASSAY_RETURN_IF_ERROR(search.run());
  const std::int64_t num_others = count.num_valid / order.num_below[0];
  for (const std::vector<std::size_t>& level : order.restrictions) {
    for (const std::size_t index : level) {
      const std::int64_t num_removed = search.removed()[index] * num_others;
      count.num_valid -= num_removed;
      if (num_removed > 0) {
        count.removals.push_back({index, num_removed, count.num_valid});
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SearchSpace> SearchSpace::make(std::vector<TuningParameter> parameters,
                                              std::vector<Restriction> restrictions,
                                              std::int64_t max_steps) {
  SearchSpace space;
  space.max_steps_ = max_steps;
  for (const TuningParameter& parameter : parameters) {
    if (__builtin_mul_overflow(space.num_combinations_,
                               static_cast<std::int64_t>(parameter.values.size()),
                               &space.num_combinations_)) {
      return absl::InvalidArgumentError(
          "more than 9,223,372,036,854,775,807 combinations; use fewer values");
    }
  }
  space.parameters_ = std::move(parameters);
  space.restrictions_ = std::move(restrictions);
  return space;
}

absl::StatusOr<SpaceCount> SearchSpace::count() const {
  SpaceCount count{
      .num_valid = num_combinations_, .num_combinations = num_combinations_, .removals = {}};
  for (const std::vector<std::size_t>& group : joined_restrictions(*this)) {
    ASSAY_RETURN_IF_ERROR(count_group(*this, group, count));
  }
  return count;
}

absl::Status SearchSpace::visit(const std::function<bool(const TuningValues&)>& visitor) const {
  const Order order = file_order(*this);
  return Search(*this,
                order,
                parameters_.size(),
                [&](std::size_t, const TuningValues& values) { return visitor(values); })
      .run();
}

absl::StatusOr<TuningValues> SearchSpace::configuration(std::int64_t index) const {
  const Order order = file_order(*this);
  std::int64_t num_to_skip = index;
  TuningValues found;
  const auto reached = [&](std::size_t level, const TuningValues& values) {
    if (num_to_skip >= order.num_below[level]) {
      num_to_skip -= order.num_below[level];
      return true;
    }
    found = values;
    for (std::size_t i = level; i < parameters_.size(); ++i) {
      found[i] =
          parameters_[i].values[static_cast<std::size_t>(num_to_skip / order.num_below[i + 1])];
      num_to_skip %= order.num_below[i + 1];
    }
    return false;
  };
  if (index >= 0) {
    ASSAY_RETURN_IF_ERROR(Search(*this, order, order.settled, reached).run());
  }
  if (index < 0 || found.empty()) {
    return absl::OutOfRangeError(
        absl::StrCat("configuration ", index, " is not among the valid ones"));
  }
  return found;
}

absl::StatusOr<bool> SearchSpace::holds(const Restriction& restriction,
                                        const TuningValues& values,
                                        std::int64_t* num_steps) const {
  const absl::StatusOr<Value> value = restriction.expression.evaluate(values, num_steps);
  if (value.ok()) {
    return is_true(*value);
  }
  const auto append = [&](std::string* out, std::size_t parameter) {
    absl::StrAppend(out, parameters_[parameter].name, "=", value_text(values[parameter]));
  };
  return proto::annotate(absl::InvalidArgumentError(absl::StrCat(
                             std::string(value.status().message()),
                             " (",
                             absl::StrJoin(restriction.expression.used(), ", ", append),
                             ")")),
                         restriction.field);
}

std::vector<std::string> SearchSpace::faults_of(const TuningValues& values) const {
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto is_it = [&](const Value& other) { return equal(other, values[i]); };
    if (std::ranges::none_of(parameters_[i].values, is_it)) {
      faults.push_back(absl::StrCat(parameters_[i].name, " has no value ", value_text(values[i])));
    }
  }
  for (const Restriction& restriction : restrictions_) {
    const absl::StatusOr<bool> is_held = holds(restriction, values);
    if (!is_held.ok() || !*is_held) {
      faults.push_back(absl::StrCat("`", restriction.expression.text(), "` does not hold"));
    }
  }
  return faults;
}

}  // namespace assay::tuning
