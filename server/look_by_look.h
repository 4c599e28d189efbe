// The rounds of one configuration, timed up to a look and judged, until that decides.
#pragma once

#include "profiler/verdict.h"
#include "server/configuration_run.h"
#include "server/runner_dialogue.h"

#include "absl/status/status.h"

namespace assay::server {

// `run` was opened by `runner`; it gets the samples and why no more were taken: the verdict is
// reached or the interval narrow, rounds or budget are used, or a sweep gave it up.
absl::Status time_look_by_look(const v1::ExperimentSpec& spec,
                               const RunContext& context,
                               const profiler::JudgeOptions& options,
                               RunnerDialogue& runner,
                               ConfigurationRun& run);

}  // namespace assay::server
