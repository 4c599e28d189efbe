-- What people query: read-only, and made anew whenever the database is migrated. A view's text
-- begins with a line on what its rows are and a line on each of its columns, in their order; the
-- view `columns` and docs/database.md show these lines. No view has a WITH, nor a backslash.

CREATE VIEW devices AS
-- The device of an experiment as it was when the experiment began.
-- device_id: of this description; experiments.device_id
-- name: in the daemon's configuration
-- backend: cpu or cuda
-- model: what it calls itself
-- uuid: one piece of hardware, whatever it was called
-- compute_capability: of a GPU
-- num_multiprocessors: or threads of a cpu
-- l2_bytes: second-level cache
-- memory_bytes: of the device
-- driver_version: of a GPU
-- toolkit_version: what the kernels were built with
-- build_flags: what the kernels were compiled with, as far as it can change bits or speed
-- code_version: of the runner
SELECT device_id, device ->> '$.name' AS name, device ->> '$.backend' AS backend,
  device ->> '$.model' AS model, device ->> '$.uuid' AS uuid,
  device ->> '$.compute_capability' AS compute_capability,
  coalesce(device ->> '$.num_multiprocessors', 0) AS num_multiprocessors,
  coalesce(device ->> '$.l2_bytes', 0) AS l2_bytes,
  coalesce(device ->> '$.memory_bytes', 0) AS memory_bytes,
  device ->> '$.driver_version' AS driver_version,
  device ->> '$.toolkit_version' AS toolkit_version,
  coalesce(device ->> '$.build_flags', '') AS build_flags,
  device ->> '$.code_version' AS code_version
FROM t_device;

CREATE VIEW experiments AS
-- One request: what was asked, its state, when, on which device, of which code.
-- experiment_id: a larger one was submitted later
-- request_id: chosen by the client
-- kind: COMPARE, MEASURE, CHECK, CALIBRATE, BENCH or SWEEP
-- operator_name: empty in a BENCH
-- device: name in the daemon's configuration
-- label: free text
-- state: QUEUED, RUNNING, DONE, FAILED, CANCELLED or INTERRUPTED
-- message: why it failed or was cancelled, or what a SWEEP left untried
-- submitted_ns: since the Unix epoch
-- started_ns: 0: not yet
-- finished_ns: 0: not yet
-- num_configurations: workloads times candidates, or items of a check
-- num_finished: of them
-- worst_verdict: REJECTED, SLOWER, UNDECIDED, SAME, FASTER, NOT_JUDGED or VERDICT_KIND_UNSPECIFIED
-- device_id: devices.device_id; NULL: it has not started
-- spec: the request as JSON
-- commit: of the code that was measured; empty: unknown
-- committed_ns: of the commit, since the Unix epoch; 0: unknown
-- dirty: 1: the checkout had changes beside the commit
-- branch: of the checkout; empty: unknown
-- note: free text
-- variants: JSON, of all arms that were asked for
-- device_uuid: devices.uuid; NULL: it has none, or has not started
-- device_model: devices.model; NULL: it has not started
SELECT e.experiment_id, e.request_id, e.kind, e.operator_name, e.device, e.label, e.state,
  e.message, e.submitted_ns, e.started_ns, e.finished_ns, e.num_configurations, e.num_finished,
  CASE iif(e.kind = 'SWEEP' AND e.severity BETWEEN 2 AND 5, 6, e.severity)
    WHEN 1 THEN 'REJECTED' WHEN 2 THEN 'SLOWER' WHEN 3 THEN 'UNDECIDED' WHEN 4 THEN 'SAME'
    WHEN 5 THEN 'FASTER' WHEN 6 THEN 'NOT_JUDGED' ELSE 'VERDICT_KIND_UNSPECIFIED'
  END AS worst_verdict,
  e.device_id, e.spec, e."commit",
  coalesce(e.spec ->> '$.context.committed_ns', 0) AS committed_ns,
  coalesce(e.spec ->> '$.context.dirty', 0) AS dirty, e.branch,
  coalesce(e.spec ->> '$.context.note', '') AS note, e.variants,
  d.device ->> '$.uuid' AS device_uuid, d.device ->> '$.model' AS device_model
FROM t_experiment e
LEFT JOIN t_device d USING (device_id);

CREATE VIEW labels AS
-- One label of one experiment.
-- experiment_id: experiments.experiment_id
-- name: once in each experiment
-- value: may be empty
SELECT experiment_id, name, value FROM t_label;

CREATE VIEW measurements AS
-- One arm on one workload of one experiment.
-- experiment_id: experiments.experiment_id
-- configuration: 1 is the first of the experiment
-- role: baseline or candidate
-- operator_name: of the experiment
-- device: name in the daemon's configuration
-- workload: every axis and the seed, as text
-- variant: of the arm
-- arm: the variant with its launch parameters
-- family: of bits: variants of one family have the same
-- code_digest: of the machine code that ran
-- timing_source: CUPTI_ACTIVITY, CUDA_EVENTS or STEADY_CLOCK
-- launch_mode: STREAM or GRAPH
-- cache_mode: HOT or COLD
-- num_input_sets: copies of the inputs that calls went through
-- min_bytes: that a call has to move at least
-- floor_ns: min_bytes at what the device reads at most; 0: no such ceiling is known
-- num_invalid_records: of the profiler, without a usable time
-- num_dropped_records: of the profiler, lost
-- warm_up: how it went, in words
-- blocks: JSON, clocks and faults of each block of calls
-- bits: JSON, what was checked of them
-- resources: JSON, registers, shared and local memory of the kernels
-- traced: JSON, kernels that the launcher says it ran
-- outcome: FINISHED, REFUSED, CRASHED, TIMED_OUT or BAD_FRAME
-- message: of an outcome other than FINISHED, or what the compiler warned of
-- elapsed_ns: of the whole configuration
-- stopped_because: why there were no more rounds
-- failure: class of a failure
SELECT c.experiment_id, c.configuration, m.role, e.operator_name, e.device,
  c.workload_text AS workload, m.variant, m.arm_text AS arm, m.family, m.code_digest,
  m.timing_source, m.launch_mode, m.cache_mode, m.num_input_sets, m.min_bytes, m.floor_ns,
  m.num_invalid_records, m.num_dropped_records, m.warm_up, m.blocks, m.bits, m.resources, m.traced,
  c.outcome, c.message, c.elapsed_ns, c.stopped_because, c.failure
FROM t_measurement m
JOIN t_configuration c USING (configuration_id)
JOIN t_experiment e USING (experiment_id);

CREATE VIEW samples AS
-- One call of one stage of a measurement.
-- experiment_id: experiments.experiment_id
-- configuration: 1 is the first of the experiment
-- role: baseline or candidate
-- operator_name: of the experiment
-- device: name in the daemon's configuration
-- workload: every axis and the seed, as text
-- variant: of the arm
-- arm: the variant with its launch parameters
-- stage: total is the whole call
-- timing_source: a CUDA device has a second pass, timed by events
-- cache_mode: HOT or COLD
-- launch_mode: STREAM or GRAPH
-- sample: 1 is the first call
-- sample_ns: its time
SELECT c.experiment_id, c.configuration, m.role, e.operator_name, e.device,
  c.workload_text AS workload, m.variant, m.arm_text AS arm, s.stage,
  CASE s.pass WHEN 'stages' THEN m.timing_source ELSE 'CUDA_EVENTS' END AS timing_source,
  m.cache_mode, m.launch_mode, j.key + 1 AS sample, j.value AS sample_ns
FROM t_samples s
JOIN t_measurement m USING (measurement_id)
JOIN t_configuration c USING (configuration_id)
JOIN t_experiment e USING (experiment_id)
JOIN json_each(s.samples_ns) j;

CREATE VIEW digests AS
-- One tensor of a measurement, or one case of a suite as the tensor all.
-- experiment_id: experiments.experiment_id
-- configuration: 1 is the first of the experiment
-- role: baseline, candidate or check
-- operator_name: of the experiment
-- device: name in the daemon's configuration
-- workload: every axis and the seed, or the case's name
-- variant: of the arm; NULL in a check
-- family: of bits: variants of one family have the same
-- side: outputs or inputs
-- tensor: its name
-- digest: XXH3-128 of bytes, shape and type, 32 hexadecimal digits
-- dtype: NULL in a check
-- shape: JSON array; NULL in a check
-- num_nontrivial: compared elements neither zero nor poison; NULL in a check
SELECT c.experiment_id, c.configuration, m.role, e.operator_name, e.device,
  c.workload_text AS workload, m.variant, m.family, d.side, d.tensor, d.digest, d.dtype, d.shape,
  d.num_nontrivial
FROM t_digest d
JOIN t_measurement m USING (measurement_id)
JOIN t_configuration c USING (configuration_id)
JOIN t_experiment e USING (experiment_id)
UNION ALL
SELECT c.experiment_id, c.configuration, 'check', e.operator_name, e.device,
  j.value ->> '$.workload', NULL, j.value ->> '$.family', 'outputs', 'all', j.value ->> '$.digest',
  NULL, NULL, NULL
FROM t_check k
JOIN t_configuration c USING (configuration_id)
JOIN t_experiment e USING (experiment_id)
JOIN json_each(k.digests) j;

CREATE VIEW goldens AS
-- One accepted digest, with its epoch and the reason.
-- operator_name: key, with workload, tensor, family and domain
-- workload: every axis and the seed, or the case's name
-- tensor: its name, or all
-- family: of bits
-- domain: any_device, or an architecture with its toolkit
-- digest: accepted
-- epoch: a later one replaces it
-- reason: why it was accepted
-- figures: JSON, quality figures
-- experiment_id: that measured it; it may be gone
-- accepted_ns: since the Unix epoch
-- replaced_digest: of the epoch before; empty: none
-- is_current: 1: no later epoch replaced it
-- golden_id: of this row
SELECT g.operator_name, g.workload, g.tensor, g.family, g.domain, g.digest, g.epoch, p.reason,
  p.figures, p.experiment_id, p.accepted_ns, g.replaced_digest,
  NOT EXISTS (SELECT 1 FROM t_golden n
    WHERE n.operator_name = g.operator_name AND n.workload = g.workload AND n.tensor = g.tensor
      AND n.family = g.family AND n.domain = g.domain AND n.epoch > g.epoch) AS is_current,
  g.golden_id
FROM t_golden g
JOIN t_epoch p USING (epoch);

CREATE VIEW verdicts AS
-- One judgement of one stage of one configuration; a later rule adds rows.
-- experiment_id: experiments.experiment_id
-- configuration: 1 is the first of the experiment
-- operator_name: of the experiment
-- device: name in the daemon's configuration
-- workload: every axis and the seed, as text
-- baseline: arm
-- candidate: arm
-- rule_version: by which it was judged
-- verdict: of the stage total, after the bits
-- reason: a sentence
-- statistical_verdict: before the rule about identical code
-- bits_equal: 1: all outputs have the baseline's bits
-- rejected_by: the check that failed
-- rejected_baseline: 1: it is the baseline that failed
-- golden: reproduced, none stored or differs
-- identical_code: 1: both arms ran the same machine code
-- least_effect: smallest difference that counts, a share
-- noise_floor: what identical code differs by, a share; NULL: not known
-- noise_floor_ns: when it was measured
-- noise_floor_experiment_id: that measured it
-- noise_floor_stale: why it may be out of date
-- baseline_sm_clock_mhz: median; 0: unknown
-- candidate_sm_clock_mhz: median; 0: unknown
-- judged_ns: since the Unix epoch
-- is_newest: 1: no later verdict of this configuration
-- stage: NULL: no stage was judged
-- stage_verdict: of this stage alone
-- stage_reason: a sentence
-- ratio: candidate / baseline; below 1 the candidate is faster; NULL: there is none
-- ratio_low: of its interval
-- ratio_high: of its interval
-- coverage: of the interval, a share
-- drift: between the two B of a round, as |median of log(B2/B1)|
-- num_rounds: that were judged
-- baseline_median_ns: of a call
-- candidate_median_ns: of a call
-- num_good_blocks: of calls, of both arms
-- num_bad_blocks: disqualified, or half of their samples are faults
-- num_samples: of both arms
-- num_faults: samples of no length, or faster than the device can be
-- modes_apart: how far two modes of the times lie apart, a share; 0: one mode
-- bar: what the ratio had to lie beyond
SELECT c.experiment_id, c.configuration, e.operator_name, e.device, c.workload_text AS workload,
  (SELECT m.arm_text FROM t_measurement m
    WHERE m.configuration_id = c.configuration_id AND m.role = 'baseline') AS baseline,
  (SELECT m.arm_text FROM t_measurement m
    WHERE m.configuration_id = c.configuration_id AND m.role = 'candidate') AS candidate,
  v.rule_version, v.verdict, v.reason, v.statistical_verdict, v.bits_equal, v.rejected_by,
  v.rejected_baseline, v.golden, v.identical_code, v.least_effect,
  CASE v.has_noise_floor WHEN 1 THEN v.noise_floor END AS noise_floor,
  v.noise_floor_ns, v.noise_floor_experiment_id, v.noise_floor_stale, v.baseline_sm_clock_mhz,
  v.candidate_sm_clock_mhz, v.judged_ns,
  v.position = (SELECT max(n.position) FROM t_verdict n
    WHERE n.configuration_id = v.configuration_id) AS is_newest,
  s.stage, s.verdict AS stage_verdict, s.reason AS stage_reason,
  CASE s.has_ratio WHEN 1 THEN s.ratio END AS ratio,
  CASE s.has_ratio WHEN 1 THEN s.ratio_low END AS ratio_low,
  CASE s.has_ratio WHEN 1 THEN s.ratio_high END AS ratio_high,
  CASE s.has_ratio WHEN 1 THEN s.coverage END AS coverage,
  CASE s.has_ratio WHEN 1 THEN s.drift END AS drift,
  s.num_rounds, s.baseline_median_ns, s.candidate_median_ns, s.num_good_blocks, s.num_bad_blocks,
  s.num_samples, s.num_faults, s.modes_apart, CASE s.has_ratio WHEN 1 THEN s.bar END AS bar
FROM t_verdict v
JOIN t_configuration c USING (configuration_id)
JOIN t_experiment e USING (experiment_id)
LEFT JOIN t_stage_verdict s
  ON s.configuration_id = v.configuration_id AND s.verdict_position = v.position;

CREATE VIEW noise_floors AS
-- What identical code differs by: the newest control of each key.
-- device_uuid: key, with all down to timing_source
-- operator_name: of the control
-- workload: every axis and the seed, as text
-- cache_mode: HOT or COLD
-- launch_mode: STREAM or GRAPH
-- timing_source: CUPTI_ACTIVITY, CUDA_EVENTS or STEADY_CLOCK
-- noise_floor: a share
-- measured_ns: since the Unix epoch
-- experiment_id: that measured it; it may be gone
-- num_rounds: of the control
-- driver_version: at that time
-- toolkit_version: at that time
-- code_version: of the runner at that time
SELECT device_uuid, operator_name, workload, cache_mode, launch_mode, timing_source, noise_floor,
  measured_ns, experiment_id, num_rounds, driver_version, toolkit_version, code_version
FROM t_noise_floor;

CREATE VIEW counters AS
-- Hardware counters: one metric of one kernel of an arm.
-- experiment_id: experiments.experiment_id
-- configuration: 1 is the first of the experiment
-- role: baseline or candidate
-- variant: of the arm
-- arm: the variant with its launch parameters
-- stage: that the kernel belongs to
-- kernel: its name
-- metric: its name
-- value: of one call
SELECT c.experiment_id, c.configuration, m.role, m.variant, m.arm_text AS arm,
  json_extract(k.value, '$.stage') AS stage, json_extract(k.value, '$.kernel') AS kernel,
  json_extract(x.value, '$.name') AS metric, json_extract(x.value, '$.value') AS value
FROM t_profile p
JOIN t_measurement m USING (measurement_id)
JOIN t_configuration c USING (configuration_id)
JOIN json_each(p.counters) k
JOIN json_each(k.value, '$.metrics') x;

CREATE VIEW ceilings AS
-- What a device reads, copies, computes and launches at most, of every BENCH.
-- device_uuid: devices.uuid
-- experiment_id: the BENCH; it may be gone
-- name: of the ceiling
-- value: in the unit
-- unit: bytes/s, flop/s, ns or share
-- help: how it was found
-- measured_ns: since the Unix epoch
-- driver_version: at that time
-- toolkit_version: at that time
-- code_version: of the runner at that time
SELECT device_uuid, experiment_id, name, value, unit, help, measured_ns, driver_version,
  toolkit_version, code_version
FROM t_ceiling;

CREATE VIEW tunings AS
-- What a sweep found best: the newest of each key.
-- operator_name: key, with all down to launch_mode
-- workload: every axis, without the seed
-- variant: whose launch parameters were walked
-- device_model: of the device
-- compute_capability: of the device
-- code_digest: of the best arm's machine code
-- toolkit_version: at that time
-- driver_version: at that time
-- cache_mode: HOT or COLD
-- launch_mode: STREAM or GRAPH
-- arm: JSON, the best
-- median_ns: of a call of the best
-- baseline_arm: JSON, what the sweep began with
-- ratio: best / baseline_arm; 1: it stayed
-- ratio_low: of its interval
-- ratio_high: of its interval
-- noise: what an arm had to be faster by, a share
-- ties: JSON, arms within the noise of the best
-- num_configurations: that were tried
-- num_valid: of the space
-- num_failed: that did not
-- strategy: exhaustive, random or one that learns
-- seed: of the strategy
-- experiment_id: the SWEEP; it may be gone
-- measured_ns: since the Unix epoch
-- code_version: of the runner at that time
-- device_uuid: of the device
SELECT operator_name, workload, variant, device_model, compute_capability, code_digest,
  toolkit_version, driver_version, cache_mode, launch_mode, arm, median_ns, baseline_arm, ratio,
  ratio_low, ratio_high, noise, ties, num_configurations, num_valid, num_failed, strategy, seed,
  experiment_id, measured_ns, code_version, device_uuid
FROM t_tuning;

CREATE VIEW recordings AS
-- One row of an imported file of another tool.
-- recording_id: of the file
-- format: of the file
-- file_name: as the client named it
-- name: of what was measured
-- device_name: as the file says
-- objective: what the tool made best
-- parameters: JSON, names of the values
-- num_rows: of the file
-- notes: JSON, what was not understood
-- imported_ns: since the Unix epoch
-- row: 1 is the first; NULL: the file has none
-- row_name: of the row
-- values: JSON, one for each parameter
-- samples_ns: JSON
-- time_ns: as the file says; NULL: it says none
-- failure: why there is no time
-- message: of the tool
-- metrics: JSON
SELECT r.recording_id, r.format, r.file_name, r.name, r.device_name, r.objective, r.parameters,
  r.num_rows, r.notes, r.imported_ns, w."row", w.name AS row_name, w."values", w.samples_ns,
  CASE w.has_time WHEN 1 THEN w.time_ns END AS time_ns, w.failure, w.message, w.metrics
FROM t_recording r
LEFT JOIN t_recorded_row w USING (recording_id);

CREATE VIEW columns AS
-- What each view, and each of its columns, means.
-- view: as the others of this list
-- position: 1 is the first column; 0: the view itself
-- name: of the column; NULL: the view itself
-- meaning: in words
SELECT view, position,
  CASE WHEN position > 0 THEN substr(line, 4, instr(line, ': ') - 4) END AS name,
  CASE WHEN position > 0 THEN substr(line, instr(line, ': ') + 2) ELSE substr(line, 4) END
    AS meaning
FROM (
  SELECT s.name AS view, j.value AS line,
    row_number() OVER (PARTITION BY s.name ORDER BY j.key) - 1 AS position
  FROM sqlite_schema s
  JOIN json_each('["' || replace(replace(s.sql, '"', char(92) || '"'), char(10), '","') || '"]') j
  WHERE s.type = 'view' AND j.value LIKE '-- %');

CREATE VIEW series AS
-- What is comparable over time: one arm on one workload in one mode on one device.
-- series_id: of this list
-- operator_name: of the catalogue, or of a source
-- workload: every axis and the seed
-- stage: total is the whole call
-- variant: of the arm
-- arm: with its launch parameters
-- device_uuid: devices.uuid
-- device_model: of the newest point
-- cache_mode: HOT or COLD
-- launch_mode: STREAM or GRAPH
-- timing_source: what the times are by
-- num_points: experiments with one
-- newest_experiment_id: of its points
SELECT s.series_id, s.operator_name, s.workload, s.stage, s.variant, s.arm, s.device_uuid,
  s.device_model, s.cache_mode, s.launch_mode, s.timing_source,
  (SELECT count(*) FROM t_point p WHERE p.series_id = s.series_id) AS num_points,
  (SELECT max(p.experiment_id) FROM t_point p WHERE p.series_id = s.series_id)
    AS newest_experiment_id
FROM t_series s;

CREATE VIEW points AS
-- One experiment in a series: what it measured there first.
-- series_id: series.series_id, with all down to timing_source
-- operator_name: of the series
-- workload: of the series
-- stage: of the series
-- variant: of the series
-- arm: of the series
-- device_uuid: of the series
-- device_model: of the series
-- cache_mode: of the series
-- launch_mode: of the series
-- timing_source: of the series
-- experiment_id: whose measurement it is
-- configuration: 1 is the first
-- role: baseline or candidate
-- measured_ns: when the experiment started, since the Unix epoch
-- median_ns: of the samples of the good blocks
-- lower_quartile_ns: of the same
-- upper_quartile_ns: of the same
-- num_samples: of the same
-- code_digest: of the machine code; empty: unknown
-- bits_digest: over the digests of all outputs; empty: none
-- family: of the bits
-- num_registers: the most of its kernels; 0: unknown
-- local_bytes: of a thread, spills among them
-- rejected: 1: its bits or the verdict were refused
-- commit: of the code that was measured; empty: unknown
-- committed_ns: of the commit, since the Unix epoch; 0: unknown
-- dirty: 1: the checkout had changes beside the commit
-- branch: of the checkout; empty: unknown
-- driver_version: of a GPU
-- toolkit_version: what the kernels were built with
-- code_version: of the runner
SELECT p.series_id, s.operator_name, s.workload, s.stage, s.variant, s.arm, s.device_uuid,
  s.device_model, s.cache_mode, s.launch_mode, s.timing_source, p.experiment_id, p.configuration,
  p.role, p.measured_ns, p.median_ns, p.lower_quartile_ns, p.upper_quartile_ns, p.num_samples,
  p.code_digest, p.bits_digest, p.family, p.num_registers, p.local_bytes, p.rejected, e."commit",
  coalesce(e.spec ->> '$.context.committed_ns', 0) AS committed_ns,
  coalesce(e.spec ->> '$.context.dirty', 0) AS dirty, e.branch,
  d.device ->> '$.driver_version' AS driver_version,
  d.device ->> '$.toolkit_version' AS toolkit_version,
  d.device ->> '$.code_version' AS code_version
FROM t_point p
JOIN t_series s USING (series_id)
JOIN t_experiment e USING (experiment_id)
LEFT JOIN t_device d USING (device_id);

CREATE VIEW changes AS
-- Where a series changed, one row a kind.
-- series_id: series.series_id, with all down to device_uuid
-- operator_name: of the series
-- workload: of the series
-- stage: of the series
-- variant: of the series
-- arm: of the series
-- device_uuid: of the series
-- experiment_id: the first with what is new
-- kind: TIME_CHANGED, BITS_CHANGED, CODE_CHANGED, RESOURCES_CHANGED or ENVIRONMENT_CHANGED
-- detail: in words
SELECT c.series_id, s.operator_name, s.workload, s.stage, s.variant, s.arm, s.device_uuid,
  c.experiment_id, c.kind, c.detail
FROM t_change c
JOIN t_series s USING (series_id);

CREATE VIEW regressions AS
-- A series that became slower, and what is known about it.
-- regression_id: of this list
-- series_id: series.series_id, with all down to timing_source
-- operator_name: of the series
-- workload: of the series
-- stage: of the series
-- variant: of the series
-- arm: of the series
-- device_uuid: of the series
-- device_model: of the series
-- cache_mode: of the series
-- launch_mode: of the series
-- timing_source: of the series
-- state: DETECTED, CONFIRMED, UNCONFIRMABLE, REFUTED, ACKNOWLEDGED or FIXED
-- reason: of the state
-- experiment_id: the first slow one
-- previous_experiment_id: the last fast one
-- commit: of the first slow one; empty: unknown
-- previous_commit: of the last fast one; empty: unknown
-- ratio: level after / level before
-- ratio_low: lower end of its interval
-- ratio_high: upper end of its interval
-- coverage: of the interval, a share
-- before_ns: the level before
-- after_ns: the level after
-- num_before: runs at the level before
-- code_digest: of the first slow one; empty: unknown
-- detected_ns: since the Unix epoch
-- changed_ns: of the state, since the Unix epoch
-- confirmation_experiment_id: the re-run; 0: none
-- fixed_experiment_id: the first fast one again; 0: none
-- acknowledged_reason: as it was given
SELECT r.regression_id, r.series_id, s.operator_name, s.workload, s.stage, s.variant, s.arm,
  s.device_uuid, s.device_model, s.cache_mode, s.launch_mode, s.timing_source, r.state, r.reason,
  r.experiment_id, r.previous_experiment_id, r."commit", r.previous_commit, r.ratio, r.ratio_low,
  r.ratio_high, r.coverage, r.before_ns, r.after_ns, r.num_before, r.code_digest, r.detected_ns,
  r.changed_ns, r.confirmation_experiment_id, r.fixed_experiment_id, r.acknowledged_reason
FROM t_regression r
JOIN t_series s USING (series_id);

CREATE VIEW bits AS
-- One digest of one tensor on one device, whether or not its experiments are still there.
-- operator_name: of the catalogue, or of a source
-- workload: every axis and the seed
-- tensor: an output or intermediate
-- family: of the bits
-- device_uuid: devices.uuid
-- device_model: of that device
-- digest: XXH3-128 as 32 hexadecimal digits
-- first_experiment_id: the first with these bits
-- first_ns: when it started, since the Unix epoch
-- first_commit: of that one; empty: unknown
-- last_experiment_id: the last with these bits
-- last_ns: when it started, since the Unix epoch
-- num_measurements: with these bits
-- variants: JSON, whose bits they were
SELECT operator_name, workload, tensor, family, device_uuid, device_model, digest,
  first_experiment_id, first_ns, first_commit, last_experiment_id, last_ns, num_measurements,
  variants
FROM t_bits;
