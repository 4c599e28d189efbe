-- From version 2: what a verdict rests on, and where a noise floor comes from. A table is made anew
-- where its text changes, so that every file of version 3 has the same. Of older noise floors neither
-- the date nor the source of the times is known, so that none is found by a key.
ALTER TABLE t_verdict RENAME TO t_verdict_2;
ALTER TABLE t_stage_verdict RENAME TO t_stage_verdict_2;
CREATE TABLE t_verdict (
  configuration_id INTEGER NOT NULL REFERENCES t_configuration ON DELETE CASCADE,
  position INTEGER NOT NULL,
  rule_version INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  statistical_verdict TEXT NOT NULL,
  least_effect REAL NOT NULL CHECK (abs(least_effect) < 9e999),
  has_noise_floor INTEGER NOT NULL,
  noise_floor REAL NOT NULL CHECK (abs(noise_floor) < 9e999),
  rejected_by TEXT NOT NULL,
  rejected_baseline INTEGER NOT NULL,
  bits_equal INTEGER NOT NULL,
  judged_ns INTEGER NOT NULL,
  identical_code INTEGER NOT NULL,
  golden TEXT NOT NULL,
  noise_floor_ns INTEGER NOT NULL,
  noise_floor_experiment_id INTEGER NOT NULL,
  noise_floor_stale TEXT NOT NULL,
  baseline_sm_clock_mhz INTEGER NOT NULL,
  candidate_sm_clock_mhz INTEGER NOT NULL,
  -- 1 is the worst.
  severity INTEGER NOT NULL GENERATED ALWAYS AS (
    CASE verdict WHEN 'REJECTED' THEN 1 WHEN 'SLOWER' THEN 2 WHEN 'UNDECIDED' THEN 3
      WHEN 'SAME' THEN 4 WHEN 'FASTER' THEN 5 WHEN 'NOT_JUDGED' THEN 6 ELSE 7 END) VIRTUAL,
  PRIMARY KEY (configuration_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO t_verdict (
  configuration_id, position, rule_version, verdict, reason, statistical_verdict, least_effect,
  has_noise_floor, noise_floor, rejected_by, rejected_baseline, bits_equal, judged_ns,
  identical_code, golden, noise_floor_ns, noise_floor_experiment_id, noise_floor_stale,
  baseline_sm_clock_mhz, candidate_sm_clock_mhz)
SELECT
  configuration_id, position, rule_version, verdict, reason, statistical_verdict, least_effect,
  has_noise_floor, noise_floor, rejected_by, rejected_baseline, bits_equal, judged_ns,
  identical_code, golden, 0, 0, '', 0, 0
FROM t_verdict_2;
CREATE TABLE t_stage_verdict (
  configuration_id INTEGER NOT NULL,
  verdict_position INTEGER NOT NULL,
  position INTEGER NOT NULL,
  stage TEXT NOT NULL,
  verdict TEXT NOT NULL,
  statistical_verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  has_ratio INTEGER NOT NULL,
  ratio REAL NOT NULL CHECK (abs(ratio) < 9e999),
  ratio_low REAL NOT NULL CHECK (abs(ratio_low) < 9e999),
  ratio_high REAL NOT NULL CHECK (abs(ratio_high) < 9e999),
  coverage REAL NOT NULL CHECK (abs(coverage) < 9e999),
  num_rounds INTEGER NOT NULL,
  drift REAL NOT NULL CHECK (abs(drift) < 9e999),
  baseline_median_ns INTEGER NOT NULL,
  candidate_median_ns INTEGER NOT NULL,
  baseline_lower_quartile_ns INTEGER NOT NULL,
  baseline_upper_quartile_ns INTEGER NOT NULL,
  candidate_lower_quartile_ns INTEGER NOT NULL,
  candidate_upper_quartile_ns INTEGER NOT NULL,
  num_good_blocks INTEGER NOT NULL,
  num_bad_blocks INTEGER NOT NULL,
  num_samples INTEGER NOT NULL,
  num_faults INTEGER NOT NULL,
  modes_apart REAL NOT NULL CHECK (abs(modes_apart) < 9e999),
  bar REAL NOT NULL CHECK (abs(bar) < 9e999),
  PRIMARY KEY (configuration_id, verdict_position, position),
  FOREIGN KEY (configuration_id, verdict_position) REFERENCES t_verdict ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO t_stage_verdict (
  configuration_id, verdict_position, position, stage, verdict, statistical_verdict, reason,
  has_ratio, ratio, ratio_low, ratio_high, coverage, num_rounds, drift, baseline_median_ns,
  candidate_median_ns, baseline_lower_quartile_ns, baseline_upper_quartile_ns,
  candidate_lower_quartile_ns, candidate_upper_quartile_ns, num_good_blocks, num_bad_blocks,
  num_samples, num_faults, modes_apart, bar)
SELECT
  configuration_id, verdict_position, position, stage, verdict, statistical_verdict, reason,
  has_ratio, ratio, ratio_low, ratio_high, coverage, num_rounds, drift, baseline_median_ns,
  candidate_median_ns, baseline_lower_quartile_ns, baseline_upper_quartile_ns,
  candidate_lower_quartile_ns, candidate_upper_quartile_ns, 0, 0, 0, 0, 0, 0
FROM t_stage_verdict_2;
DROP TABLE t_stage_verdict_2;
DROP TABLE t_verdict_2;

ALTER TABLE t_noise_floor RENAME TO t_noise_floor_2;
CREATE TABLE t_noise_floor (
  device_uuid TEXT NOT NULL,
  operator_name TEXT NOT NULL,
  workload TEXT NOT NULL,
  cache_mode TEXT NOT NULL,
  launch_mode TEXT NOT NULL,
  timing_source TEXT NOT NULL,
  noise_floor REAL NOT NULL CHECK (noise_floor >= 0 AND noise_floor < 9e999),
  measured_ns INTEGER NOT NULL,
  experiment_id INTEGER NOT NULL,
  num_rounds INTEGER NOT NULL,
  driver_version TEXT NOT NULL,
  toolkit_version TEXT NOT NULL,
  code_version TEXT NOT NULL,
  PRIMARY KEY
    (device_uuid, operator_name, workload, cache_mode, launch_mode, timing_source)
) STRICT, WITHOUT ROWID;
INSERT INTO t_noise_floor
SELECT device_uuid, operator_name, workload, cache_mode, launch_mode, 'TIMING_SOURCE_UNSPECIFIED',
  noise_floor, 0, 0, 0, '', '', ''
FROM t_noise_floor_2;
DROP TABLE t_noise_floor_2;
