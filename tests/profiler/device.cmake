# Tests of the profiler's device half and of the frames.
add_library(faulty_operator STATIC faulty_checks.cpp faulty_operator.cpp)
target_link_libraries(
  faulty_operator
  PUBLIC assay_kernels
  PRIVATE assay_build)

assay_test(profiler/frames LIBS assay::frames assay::proto LABELS threads)
assay_test(profiler/activity_collector LIBS assay::probe)
assay_test(profiler/admission LIBS assay::probe)
assay_test(profiler/arm_check LIBS assay::probe)
assay_test(profiler/arm_plan LIBS assay::probe)
assay_test(profiler/block_plan LIBS assay::probe)
assay_test(profiler/checks LIBS assay::probe faulty_operator)
assay_test(profiler/compile_log LIBS assay::probe)
assay_test(profiler/compile_options LIBS assay::probe)
assay_test(profiler/counter_groups LIBS assay::probe)
assay_test(profiler/invariance_check LIBS assay::probe faulty_operator)
assay_test(profiler/generated_input LIBS assay::probe)
assay_test(profiler/kernel_name LIBS assay::probe)
assay_test(profiler/module_file LIBS assay::measure)
assay_test(profiler/module_table LIBS assay::probe)
assay_test(profiler/module_library LIBS assay::probe LABELS threads)
target_compile_definitions(profiler_module_library_test
                           PRIVATE ASSAY_TEST_MODULES="${PROJECT_BINARY_DIR}/tests/modules")
add_dependencies(profiler_module_library_test assay_test_modules)
assay_test(profiler/loaded_modules LIBS assay::probe LABELS threads)
assay_test(profiler/machine_code LIBS assay::probe)
assay_test(profiler/outside_reads LIBS assay::probe)
assay_test(profiler/runner LIBS assay::probe faulty_operator LABELS threads)
assay_test(profiler/session LIBS assay::probe faulty_operator LABELS threads)
assay_test(profiler/session_counters LIBS assay::probe faulty_operator LABELS threads)
assay_test(profiler/session_graph LIBS assay::probe faulty_operator LABELS threads)
assay_test(profiler/source_blobs LIBS assay::probe)
assay_test(profiler/source_compiler LIBS assay::probe SOURCES compile_main.cpp TIMEOUT 300)
assay_test(profiler/source_fill LIBS assay::probe)
assay_test(profiler/source_operator LIBS assay::probe SOURCES compile_main.cpp)
assay_test(profiler/tolerance LIBS assay::probe)
assay_test(profiler/warm_up LIBS assay::probe)
assay_test(profiler/workspace LIBS assay::probe)

add_library(catalogue_checks STATIC catalogue_checks.cpp)
target_link_libraries(
  catalogue_checks
  PUBLIC assay_probe
  PRIVATE assay_build GTest::gtest)
assay_test(profiler/cpu_device LIBS assay::probe catalogue_checks LABELS threads)
if(ASSAY_CUDA)
  assay_test(profiler/cupti_metrics LIBS assay::probe)
  target_include_directories(profiler_cupti_metrics_test SYSTEM PRIVATE ${ASSAY_CUPTI_INCLUDE_DIR})
  assay_test(profiler/nvml LIBS assay::probe)
  assay_test(profiler/module_gpu LIBS assay::probe TIMEOUT 300)
  target_compile_definitions(profiler_module_gpu_test
                             PRIVATE ASSAY_TEST_MODULES="${PROJECT_BINARY_DIR}/tests/modules")
  add_dependencies(profiler_module_gpu_test assay_test_modules)
  assay_test(profiler/outside_reads_gpu LIBS assay::probe SOURCES compile_main.cpp TIMEOUT 300)
  assay_test(profiler/session_gpu LIBS assay::probe catalogue_checks TIMEOUT 300)
  assay_test(profiler/source_gpu LIBS assay::probe SOURCES compile_main.cpp TIMEOUT 300)
endif()
