# The device half: what runs kernels, and the program around it.
add_library(
  assay_probe STATIC
  activity_collector.cpp
  admission.cpp
  arm_check.cpp
  arm_plan.cpp
  block_plan.cpp
  build_id.cpp
  ceiling.cpp
  check_arms.cpp
  checked_call.cpp
  checks.cpp
  code_digest.cpp
  compile_job.cpp
  compile_log.cpp
  compile_options.cpp
  compile_worker.cpp
  compiler_process.cpp
  counter_groups.cpp
  cpu_bench.cpp
  cpu_device.cpp
  cpu_identity.cpp
  cubin.cpp
  elf_file.cpp
  failure_class.cpp
  generated_input.cpp
  guarded_buffer.cpp
  invariance_check.cpp
  kernel_name.cpp
  loaded_modules.cpp
  machine_code.cpp
  matched_tensors.cpp
  module_library.cpp
  module_operator.cpp
  module_problem.cpp
  module_table.cpp
  mutant_check.cpp
  nvrtc_library.cpp
  other_inputs.cpp
  outside_reads.cpp
  plant.cpp
  refusal.cpp
  runner.cpp
  sandbox.cpp
  session.cpp
  session_counters.cpp
  session_describe.cpp
  session_graph.cpp
  session_plan.cpp
  session_timing.cpp
  session_trust.cpp
  source_blobs.cpp
  source_compiler.cpp
  source_fill.cpp
  source_operator.cpp
  source_problem.cpp
  source_stage.cpp
  subject.cpp
  suite_check.cpp
  tolerance.cpp
  toolkit_files.cpp
  version.cpp
  warm_up.cpp
  watchdog.cpp
  workspace.cpp)
add_library(assay::probe ALIAS assay_probe)
target_link_libraries(
  assay_probe
  PUBLIC assay_kernels assay_tuning assay_measure assay_frames assay_proto absl::strings
  PRIVATE assay_build Threads::Threads ${CMAKE_DL_LIBS})
assay_reuse_headers(assay_probe assay_profiler_headers)
set_source_files_properties(
  version.cpp
  PROPERTIES
    COMPILE_DEFINITIONS
    "ASSAY_CODE_VERSION=\"${ASSAY_CODE_VERSION}\";ASSAY_CPU_BUILD_FLAGS=\"${ASSAY_CPU_BUILD_FLAGS}\";ASSAY_CUDA_BUILD_FLAGS=\"${ASSAY_CUDA_BUILD_FLAGS}\""
)

if(ASSAY_CUDA)
  find_path(
    ASSAY_CUPTI_INCLUDE_DIR cupti.h REQUIRED
    HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_TARGET_DIR}/extras/CUPTI/include)
  target_sources(
    assay_probe
    PRIVATE cuda_bench.cpp
            cuda_bench_kernels.cu
            cuda_count.cpp
            cuda_device.cpp
            cuda_events.cpp
            cuda_graph.cpp
            cuda_kernels.cu
            cuda_probe.cpp
            cuda_source.cpp
            cuda_status.cpp
            cuda_timing.cpp
            cupti_activity.cpp
            cupti_activity_functions.cpp
            cupti_counters.cpp
            cupti_library.cpp
            cupti_metrics.cpp
            cupti_subscriber.cpp
            module_cuda.cpp
            nvml.cpp)
  target_compile_definitions(assay_probe PRIVATE ASSAY_HAS_CUDA=1)
  # Warpgroup instructions are of sm_90a, which is no architecture that others run.
  add_library(assay_bench_warpgroup OBJECT cuda_bench_warpgroup.cu)
  set_target_properties(assay_bench_warpgroup PROPERTIES CUDA_ARCHITECTURES OFF)
  target_compile_options(assay_bench_warpgroup PRIVATE -gencode=arch=compute_90a,code=sm_90a)
  target_link_libraries(
    assay_bench_warpgroup
    PUBLIC CUDA::cudart_static
    PRIVATE assay_build)
  target_sources(assay_probe PRIVATE $<TARGET_OBJECTS:assay_bench_warpgroup>)
  target_include_directories(assay_probe SYSTEM PRIVATE ${ASSAY_CUPTI_INCLUDE_DIR})
  target_link_libraries(assay_probe PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
else()
  target_sources(assay_probe PRIVATE no_cuda_device.cpp no_module_cuda.cpp)
endif()

add_executable(assay-runner runner_main.cpp)
target_link_libraries(assay-runner PRIVATE assay_probe assay_build)
