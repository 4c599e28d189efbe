#include "kernels/tree_attention/invariance_pairs.h"

namespace assay::kernels::tree_attention {
namespace {

Pairs launch_pairs(const std::string& left, const std::vector<std::string>& rights) {
  Pairs pairs;
  for (const std::string& right : rights) {
    for (const Row& geometry : geometries()) {
      pairs.push_back(arms(absl::StrCat(dim_text(geometry), ", two streams, ", right),
                           two_streams(geometry),
                           left,
                           right));
      pairs.push_back(arms(absl::StrCat(dim_text(geometry), ", 8 rows at 4,700, ", right),
                           with(geometry, with(sized(8, 4'700), {{"tree", "binary"}})),
                           left,
                           right));
    }
  }
  return pairs;
}

}  // namespace

Pairs one_shared_block() {
  Pairs pairs = launch_pairs("staged", {"staged:slots=1", "staged:slots=1,sms=1,shared=on"});
  for (InvariancePair& pair :
       launch_pairs("model_sm_90:pairs_per_tile=4", {"model_sm_90:pairs_per_tile=64,threads=1"})) {
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Pairs long_grid() {
  return launch_pairs("staged", {"staged:capacity=262144", "staged:form=one_warp,capacity=262144"});
}

Pairs one_warp() {
  return launch_pairs("staged:form=four_warp",
                      {"staged:form=one_warp",
                       "staged:form=one_warp,stages=3",
                       "staged:form=one_warp,slots=1,shared=off"});
}

Pairs sm_count() {
  return launch_pairs("staged", {"staged:sms=1", "staged:sms=47", "staged:sms=1024"});
}

}  // namespace assay::kernels::tree_attention
