-- What people query: read-only, and made anew whenever the database is migrated.

CREATE VIEW devices AS
SELECT device_id, device ->> '$.name' AS name, device ->> '$.backend' AS backend,
  device ->> '$.model' AS model, device ->> '$.uuid' AS uuid,
  device ->> '$.compute_capability' AS compute_capability,
  coalesce(device ->> '$.num_multiprocessors', 0) AS num_multiprocessors,
  coalesce(device ->> '$.l2_bytes', 0) AS l2_bytes,
  coalesce(device ->> '$.memory_bytes', 0) AS memory_bytes,
  device ->> '$.driver_version' AS driver_version,
  device ->> '$.toolkit_version' AS toolkit_version,
  device ->> '$.code_version' AS code_version
FROM t_device;

-- The newest verdict of each configuration counts; a failed check is a rejection.
CREATE VIEW experiments AS
SELECT e.experiment_id, e.request_id, e.kind, e.operator_name, e.device, e.label, e.state,
  e.message, e.submitted_ns, e.started_ns, e.finished_ns, e.num_configurations, e.num_finished,
  CASE (SELECT min(coalesce(
      (SELECT CASE k.passed WHEN 0 THEN 1 ELSE 7 END FROM t_check k
        WHERE k.configuration_id = c.configuration_id),
      (SELECT v.severity FROM t_verdict v
        WHERE v.configuration_id = c.configuration_id ORDER BY v.position DESC LIMIT 1), 7))
    FROM t_configuration c WHERE c.experiment_id = e.experiment_id)
    WHEN 1 THEN 'REJECTED' WHEN 2 THEN 'SLOWER' WHEN 3 THEN 'UNDECIDED' WHEN 4 THEN 'SAME'
    WHEN 5 THEN 'FASTER' WHEN 6 THEN 'NOT_JUDGED' ELSE 'VERDICT_KIND_UNSPECIFIED'
  END AS worst_verdict,
  e.device_id, e.spec
FROM t_experiment e;

CREATE VIEW measurements AS
SELECT c.experiment_id, c.configuration, m.role, e.operator_name, e.device,
  c.workload_text AS workload, m.variant, m.arm_text AS arm, m.family, m.code_digest,
  m.timing_source, m.launch_mode, m.cache_mode, m.num_input_sets, m.min_bytes, m.floor_ns,
  m.num_invalid_records, m.num_dropped_records, m.warm_up, m.blocks, m.bits, m.resources, m.traced,
  c.outcome, c.message, c.elapsed_ns, c.stopped_because, c.failure
FROM t_measurement m
JOIN t_configuration c USING (configuration_id)
JOIN t_experiment e USING (experiment_id);

-- One row a call; sample 1 is the first. The second pass of a CUDA device is timed by events.
CREATE VIEW samples AS
SELECT c.experiment_id, c.configuration, m.role, e.operator_name, e.device,
  c.workload_text AS workload, m.variant, m.arm_text AS arm, s.stage,
  CASE s.pass WHEN 'stages' THEN m.timing_source ELSE 'CUDA_EVENTS' END AS timing_source,
  m.cache_mode, m.launch_mode, j.key + 1 AS sample, j.value AS sample_ns
FROM t_samples s
JOIN t_measurement m USING (measurement_id)
JOIN t_configuration c USING (configuration_id)
JOIN t_experiment e USING (experiment_id)
JOIN json_each(s.samples_ns) j;

-- Digests of tensors, and those of a suite's cases as the tensor "all".
CREATE VIEW digests AS
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

-- Every accepted epoch; is_current marks the one that counts.
CREATE VIEW goldens AS
SELECT g.operator_name, g.workload, g.tensor, g.family, g.domain, g.digest, g.epoch, p.reason,
  p.figures, p.experiment_id, p.accepted_ns, g.replaced_digest,
  NOT EXISTS (SELECT 1 FROM t_golden n
    WHERE n.operator_name = g.operator_name AND n.workload = g.workload AND n.tensor = g.tensor
      AND n.family = g.family AND n.domain = g.domain AND n.epoch > g.epoch) AS is_current,
  g.golden_id
FROM t_golden g
JOIN t_epoch p USING (epoch);

-- One row a stage, or one row with stage NULL when no stage was judged.
CREATE VIEW verdicts AS
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

-- What identical code differs by, as A/A controls found it.
CREATE VIEW noise_floors AS
SELECT device_uuid, operator_name, workload, cache_mode, launch_mode, timing_source, noise_floor,
  measured_ns, experiment_id, num_rounds, driver_version, toolkit_version, code_version
FROM t_noise_floor;
CREATE VIEW counters AS
SELECT c.experiment_id, c.configuration, m.role, m.variant, m.arm_text AS arm,
  json_extract(k.value, '$.stage') AS stage, json_extract(k.value, '$.kernel') AS kernel,
  json_extract(x.value, '$.name') AS metric, json_extract(x.value, '$.value') AS value
FROM t_profile p
JOIN t_measurement m USING (measurement_id)
JOIN t_configuration c USING (configuration_id)
JOIN json_each(p.counters) k
JOIN json_each(k.value, '$.metrics') x;
CREATE VIEW ceilings AS
SELECT device_uuid, experiment_id, name, value, unit, help, measured_ns, driver_version,
  toolkit_version, code_version
FROM t_ceiling;

-- What sweeps found best, the newest of each key.
CREATE VIEW tunings AS
SELECT operator_name, workload, variant, device_model, compute_capability, code_digest,
  toolkit_version, driver_version, cache_mode, launch_mode, arm, median_ns, baseline_arm, ratio,
  ratio_low, ratio_high, noise, ties, num_configurations, num_valid, num_failed, strategy, seed,
  experiment_id, measured_ns, code_version, device_uuid
FROM t_tuning;

-- What other tools measured.
CREATE VIEW recordings AS
SELECT r.recording_id, r.format, r.file_name, r.name, r.device_name, r.objective, r.parameters,
  r.num_rows, r.notes, r.imported_ns, w."row", w.name AS row_name, w."values", w.samples_ns,
  CASE w.has_time WHEN 1 THEN w.time_ns END AS time_ns, w.failure, w.message, w.metrics
FROM t_recording r
LEFT JOIN t_recorded_row w USING (recording_id);
