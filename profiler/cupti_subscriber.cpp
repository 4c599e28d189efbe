#include "profiler/cupti_subscriber.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <span>
#include <string>

namespace assay::profiler {

// CUPTI has one subscriber a process: who cannot be it shares the process with another profiler,
// and would lose its own records or those of the other.
absl::Status CuptiSubscriber::subscribe() {
  const CUptiResult subscribed = functions_.subscribe(&subscriber_, hear, this);
  if (absl::Status status = status_of(subscribed, "cuptiSubscribe"); !status.ok()) {
    subscriber_ = nullptr;
    return subscribed == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
               ? absl::UnavailableError(
                     absl::StrCat(std::string(status.message()),
                                  ": another profiler has this process (nsys, ncu, a sanitizer)"))
               : status;
  }
  for (const CUpti_CallbackId id :
       {CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_MODULE_LOADED}) {
    ASSAY_RETURN_IF_ERROR(
        status_of(functions_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id),
                  "cuptiEnableCallback"));
  }
  return absl::OkStatus();
}

void CuptiSubscriber::unsubscribe() {
  if (subscriber_ != nullptr) {
    functions_.unsubscribe(subscriber_);
    subscriber_ = nullptr;
  }
}

void CuptiSubscriber::hear(void* self,
                           CUpti_CallbackDomain domain,
                           CUpti_CallbackId id,
                           const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) {
    return;
  }
  const void* what = static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor;
  auto* cupti = static_cast<CuptiSubscriber*>(self);
  if (what == nullptr) {
    return;
  }
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
    cupti->add_clone(*static_cast<const CUpti_GraphData*>(what));
  } else if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    const auto* module = static_cast<const CUpti_ModuleResourceData*>(what);
    if (module->pCubin != nullptr) {
      cupti->modules_.add(std::as_bytes(std::span(module->pCubin, module->cubinSize)));
    }
  }
}

void CuptiSubscriber::add_clone(const CUpti_GraphData& graph) {
  std::uint64_t clone = 0;
  std::uint64_t original = 0;
  if (functions_.graph_node_id(graph.node, &clone) == CUPTI_SUCCESS &&
      functions_.graph_node_id(graph.originalNode, &original) == CUPTI_SUCCESS) {
    const std::lock_guard lock(clones_mutex_);
    clones_.emplace_back(clone, original);
  }
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> CuptiSubscriber::take_clones() {
  const std::lock_guard lock(clones_mutex_);
  return std::exchange(clones_, {});
}

}  // namespace assay::profiler
