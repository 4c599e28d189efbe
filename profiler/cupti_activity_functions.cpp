#include "profiler/cupti_activity_functions.h"

namespace assay::profiler {

absl::StatusOr<CuptiActivityFunctions> find_activity_functions(const CuptiLibrary& library) {
  void* const handle = library.handle;
  CuptiActivityFunctions functions;
  if (!find(handle, "cuptiActivityRegisterCallbacks", functions.register_callbacks) ||
      !find(handle, "cuptiActivityEnable", functions.enable) ||
      !find(handle, "cuptiActivityDisable", functions.disable) ||
      !find(handle, "cuptiActivityFlushAll", functions.flush) ||
      !find(handle, "cuptiActivityGetNextRecord", functions.next_record) ||
      !find(handle, "cuptiActivityGetNumDroppedRecords", functions.num_dropped) ||
      !find(handle, "cuptiActivityPushExternalCorrelationId", functions.push) ||
      !find(handle, "cuptiActivityPopExternalCorrelationId", functions.pop) ||
      !find(handle, "cuptiGetTimestamp", functions.timestamp) ||
      !find(handle, "cuptiGetGraphNodeId", functions.graph_node_id) ||
      !find(handle, "cuptiGetStreamIdEx", functions.stream_id) ||
      !find(handle, "cuptiSubscribe", functions.subscribe) ||
      !find(handle, "cuptiUnsubscribe", functions.unsubscribe) ||
      !find(handle, "cuptiEnableCallback", functions.enable_callback)) {
    return absl::UnavailableError("libcupti.so lacks a function that is needed");
  }
  return functions;
}

}  // namespace assay::profiler
