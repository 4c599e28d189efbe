-- The tables of version 6. A column has the name of its proto field; enums are names, nested
-- messages and lists are proto JSON, times are integer nanoseconds.

-- A device as it was when an experiment began, once for each different description.
CREATE TABLE t_device (
  device_id INTEGER PRIMARY KEY,
  device TEXT NOT NULL UNIQUE CHECK (json_valid(device))
) STRICT;

-- kind, operator_name, device, label, commit, branch and variants (of any arm, a JSON array) repeat
-- what spec says, for queries. severity is the worst of the newest verdicts; 1 is the worst.
CREATE TABLE t_experiment (
  experiment_id INTEGER PRIMARY KEY AUTOINCREMENT,
  request_id TEXT NOT NULL UNIQUE CHECK (request_id <> ''),
  kind TEXT NOT NULL,
  operator_name TEXT NOT NULL,
  device TEXT NOT NULL,
  label TEXT NOT NULL,
  device_id INTEGER REFERENCES t_device,
  spec TEXT NOT NULL CHECK (json_valid(spec)),
  state TEXT NOT NULL
    CHECK (state IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED', 'INTERRUPTED')),
  message TEXT NOT NULL,
  submitted_ns INTEGER NOT NULL,
  started_ns INTEGER NOT NULL,
  finished_ns INTEGER NOT NULL,
  num_configurations INTEGER NOT NULL,
  num_finished INTEGER NOT NULL CHECK (num_finished BETWEEN 0 AND num_configurations)
, "commit" TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '', severity INTEGER NOT NULL DEFAULT 7, variants TEXT NOT NULL DEFAULT '[]') STRICT;

-- Any mix of filters walks one of these from the newest down, and reads nothing else of the table:
-- states other than DONE are few.
CREATE INDEX t_experiment_page
  ON t_experiment (experiment_id DESC, state, operator_name, device, kind, severity, submitted_ns,
    "commit", branch, device_id, variants);
CREATE INDEX t_experiment_state ON t_experiment (state);

-- workload_text is the canonical text, the key of goldens.
CREATE TABLE t_configuration (
  configuration_id INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES t_experiment ON DELETE CASCADE,
  configuration INTEGER NOT NULL CHECK (configuration >= 1),
  workload TEXT CHECK (workload IS NULL OR json_valid(workload)),
  workload_text TEXT NOT NULL,
  baseline_arm TEXT CHECK (baseline_arm IS NULL OR json_valid(baseline_arm)),
  candidate_arm TEXT CHECK (candidate_arm IS NULL OR json_valid(candidate_arm)),
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  elapsed_ns INTEGER NOT NULL,
  stopped_because TEXT NOT NULL, failure TEXT NOT NULL DEFAULT 'FAILURE_CLASS_UNSPECIFIED', in_history INTEGER NOT NULL DEFAULT 0,
  UNIQUE (experiment_id, configuration)
) STRICT;
-- What is still to be made points and bits of.
CREATE INDEX t_configuration_pending ON t_configuration (configuration_id) WHERE in_history = 0;

CREATE TABLE t_measurement (
  measurement_id INTEGER PRIMARY KEY,
  configuration_id INTEGER NOT NULL REFERENCES t_configuration ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('baseline', 'candidate')),
  variant TEXT NOT NULL,
  arm_text TEXT NOT NULL,
  arm TEXT CHECK (arm IS NULL OR json_valid(arm)),
  family TEXT NOT NULL,
  code_digest TEXT NOT NULL,
  timing_source TEXT NOT NULL,
  launch_mode TEXT NOT NULL,
  cache_mode TEXT NOT NULL,
  num_input_sets INTEGER NOT NULL,
  blocks TEXT NOT NULL,
  bits TEXT CHECK (bits IS NULL OR json_valid(bits)),
  resources TEXT NOT NULL CHECK (json_valid(resources)),
  min_bytes INTEGER NOT NULL,
  floor_ns INTEGER NOT NULL,
  num_invalid_records INTEGER NOT NULL,
  num_dropped_records INTEGER NOT NULL,
  warm_up TEXT NOT NULL,
  traced TEXT NOT NULL CHECK (json_valid(traced)),
  UNIQUE (configuration_id, role)
) STRICT;

-- One JSON array of integers for each measurement, pass and stage.
CREATE TABLE t_samples (
  measurement_id INTEGER NOT NULL REFERENCES t_measurement ON DELETE CASCADE,
  pass TEXT NOT NULL CHECK (pass IN ('stages', 'event_stages')),
  position INTEGER NOT NULL,
  stage TEXT NOT NULL,
  samples_ns TEXT NOT NULL,
  PRIMARY KEY (measurement_id, pass, position)
) STRICT;

CREATE TABLE t_digest (
  measurement_id INTEGER NOT NULL REFERENCES t_measurement ON DELETE CASCADE,
  side TEXT NOT NULL CHECK (side IN ('outputs', 'inputs')),
  position INTEGER NOT NULL,
  tensor TEXT NOT NULL,
  digest TEXT NOT NULL,
  dtype TEXT NOT NULL,
  shape TEXT NOT NULL CHECK (json_valid(shape)),
  num_nontrivial INTEGER NOT NULL,
  PRIMARY KEY (measurement_id, side, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_digest_digest ON t_digest (digest);

-- position 1 is the oldest verdict of a configuration; none is overwritten.
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

CREATE TABLE t_check (
  configuration_id INTEGER PRIMARY KEY REFERENCES t_configuration ON DELETE CASCADE,
  suite TEXT NOT NULL,
  name TEXT NOT NULL,
  summary TEXT NOT NULL,
  passed INTEGER NOT NULL,
  num_cases INTEGER NOT NULL,
  num_differing INTEGER NOT NULL,
  num_nontrivial INTEGER NOT NULL,
  counts TEXT NOT NULL CHECK (json_valid(counts)),
  rejected_by TEXT NOT NULL,
  detail TEXT NOT NULL,
  drift TEXT CHECK (drift IS NULL OR json_valid(drift)),
  tolerance_used REAL NOT NULL CHECK (abs(tolerance_used) < 9e999),
  digests TEXT NOT NULL CHECK (json_valid(digests)),
  arms TEXT NOT NULL CHECK (json_valid(arms)),
  num_goldens_reproduced INTEGER NOT NULL,
  num_goldens_missing INTEGER NOT NULL,
  num_goldens_differing INTEGER NOT NULL,
  first_golden_differing TEXT NOT NULL,
  tolerance_buckets TEXT NOT NULL CHECK (json_valid(tolerance_buckets)),
  tolerance_alarm INTEGER NOT NULL,
  not_run TEXT NOT NULL
) STRICT;

-- Epochs outlive the experiments that they came from: experiment_id is no foreign key.
CREATE TABLE t_epoch (
  epoch INTEGER PRIMARY KEY AUTOINCREMENT,
  reason TEXT NOT NULL CHECK (reason <> ''),
  figures TEXT NOT NULL CHECK (json_valid(figures)),
  experiment_id INTEGER NOT NULL,
  accepted_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE t_golden (
  golden_id INTEGER PRIMARY KEY,
  epoch INTEGER NOT NULL REFERENCES t_epoch,
  operator_name TEXT NOT NULL,
  workload TEXT NOT NULL,
  tensor TEXT NOT NULL,
  family TEXT NOT NULL,
  domain TEXT NOT NULL,
  digest TEXT NOT NULL,
  replaced_digest TEXT NOT NULL,
  UNIQUE (operator_name, workload, tensor, family, domain, epoch)
) STRICT;

-- What identical code differs by on a device, as a share; the newest for each workload and mode.
-- experiment_id is no foreign key: a floor outlives the experiment that it came from.
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

-- What passes of their own found out about a measurement, where there was one.
CREATE TABLE t_profile (
  measurement_id INTEGER PRIMARY KEY REFERENCES t_measurement ON DELETE CASCADE,
  min_flops INTEGER NOT NULL,
  admission TEXT CHECK (admission IS NULL OR json_valid(admission)),
  activity_stages TEXT NOT NULL CHECK (json_valid(activity_stages)),
  traced_blocks TEXT NOT NULL CHECK (json_valid(traced_blocks)),
  counters TEXT NOT NULL CHECK (json_valid(counters)),
  counters_missing TEXT NOT NULL
) STRICT;

-- What a device can do at most, of every BENCH. experiment_id is no foreign key: a ceiling outlives
-- the experiment that it came from.
CREATE TABLE t_ceiling (
  device_uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL CHECK (abs(value) < 9e999),
  unit TEXT NOT NULL,
  help TEXT NOT NULL,
  measured_ns INTEGER NOT NULL,
  experiment_id INTEGER NOT NULL,
  driver_version TEXT NOT NULL,
  toolkit_version TEXT NOT NULL,
  code_version TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (device_uuid, experiment_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_ceiling_experiment ON t_ceiling (experiment_id);

-- What a sweep found best, the newest of each key. experiment_id is no foreign key: an entry
-- outlives the experiment that it came from.
CREATE TABLE t_tuning (
  device_model TEXT NOT NULL,
  compute_capability TEXT NOT NULL,
  operator_name TEXT NOT NULL,
  variant TEXT NOT NULL,
  workload TEXT NOT NULL,
  code_digest TEXT NOT NULL,
  toolkit_version TEXT NOT NULL,
  driver_version TEXT NOT NULL,
  arm TEXT NOT NULL CHECK (json_valid(arm)),
  median_ns INTEGER NOT NULL,
  baseline_arm TEXT CHECK (baseline_arm IS NULL OR json_valid(baseline_arm)),
  ratio REAL NOT NULL CHECK (abs(ratio) < 9e999),
  ratio_low REAL NOT NULL CHECK (abs(ratio_low) < 9e999),
  ratio_high REAL NOT NULL CHECK (abs(ratio_high) < 9e999),
  noise REAL NOT NULL CHECK (abs(noise) < 9e999),
  ties TEXT NOT NULL CHECK (json_valid(ties)),
  num_configurations INTEGER NOT NULL,
  num_valid INTEGER NOT NULL,
  num_failed INTEGER NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,
  experiment_id INTEGER NOT NULL,
  measured_ns INTEGER NOT NULL,
  code_version TEXT NOT NULL,
  device_uuid TEXT NOT NULL,
  cache_mode TEXT NOT NULL,
  launch_mode TEXT NOT NULL,
  PRIMARY KEY (operator_name, workload, variant, device_model, compute_capability, code_digest,
    toolkit_version, driver_version, cache_mode, launch_mode)
) STRICT, WITHOUT ROWID;

-- Bytes that requests refer to by their digest.
CREATE TABLE t_blob (
  digest TEXT PRIMARY KEY,
  num_bytes INTEGER NOT NULL,
  uploaded_ns INTEGER NOT NULL,
  data BLOB NOT NULL CHECK (length(data) = num_bytes)
) STRICT;

-- A file of another tool, and its rows.
CREATE TABLE t_recording (
  recording_id INTEGER PRIMARY KEY AUTOINCREMENT,
  format TEXT NOT NULL,
  file_name TEXT NOT NULL,
  name TEXT NOT NULL,
  device_name TEXT NOT NULL,
  objective TEXT NOT NULL,
  parameters TEXT NOT NULL CHECK (json_valid(parameters)),
  num_rows INTEGER NOT NULL,
  notes TEXT NOT NULL CHECK (json_valid(notes)),
  imported_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE t_recorded_row (
  recording_id INTEGER NOT NULL REFERENCES t_recording ON DELETE CASCADE,
  "row" INTEGER NOT NULL,
  name TEXT NOT NULL,
  "values" TEXT NOT NULL CHECK (json_valid("values")),
  samples_ns TEXT NOT NULL CHECK (json_valid(samples_ns)),
  has_time INTEGER NOT NULL,
  time_ns REAL NOT NULL CHECK (abs(time_ns) < 9e999),
  failure TEXT NOT NULL,
  message TEXT NOT NULL,
  metrics TEXT NOT NULL CHECK (json_valid(metrics)),
  PRIMARY KEY (recording_id, "row")
) STRICT, WITHOUT ROWID;

-- Labels of an experiment's context.
CREATE TABLE t_label (
  experiment_id INTEGER NOT NULL REFERENCES t_experiment ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (experiment_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_label_name ON t_label (name, value, experiment_id);

-- What is comparable over time. One device is one uuid, whatever it was called. is_stale: a point
-- came in since it was looked at.
CREATE TABLE t_series (
  series_id INTEGER PRIMARY KEY,
  operator_name TEXT NOT NULL,
  workload TEXT NOT NULL,
  stage TEXT NOT NULL,
  variant TEXT NOT NULL,
  arm TEXT NOT NULL,
  device_uuid TEXT NOT NULL,
  device_model TEXT NOT NULL,
  cache_mode TEXT NOT NULL,
  launch_mode TEXT NOT NULL,
  timing_source TEXT NOT NULL,
  is_stale INTEGER NOT NULL,
  UNIQUE (operator_name, workload, stage, variant, arm, device_uuid, cache_mode, launch_mode,
    timing_source)
) STRICT;
CREATE INDEX t_series_stale ON t_series (series_id) WHERE is_stale = 1;

-- The first measurement of a series in each experiment, made from its samples.
CREATE TABLE t_point (
  series_id INTEGER NOT NULL REFERENCES t_series,
  experiment_id INTEGER NOT NULL REFERENCES t_experiment ON DELETE CASCADE,
  configuration INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('baseline', 'candidate')),
  measured_ns INTEGER NOT NULL,
  median_ns INTEGER NOT NULL,
  lower_quartile_ns INTEGER NOT NULL,
  upper_quartile_ns INTEGER NOT NULL,
  num_samples INTEGER NOT NULL,
  code_digest TEXT NOT NULL,
  bits_digest TEXT NOT NULL,
  family TEXT NOT NULL,
  num_registers INTEGER NOT NULL,
  local_bytes INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  PRIMARY KEY (series_id, experiment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_point_experiment ON t_point (experiment_id);

-- Where a series changed. One experiment may change several things.
CREATE TABLE t_change (
  series_id INTEGER NOT NULL REFERENCES t_series,
  experiment_id INTEGER NOT NULL REFERENCES t_experiment ON DELETE CASCADE,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (series_id, experiment_id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_change_experiment ON t_change (experiment_id);

-- A regression outlives the experiments that it names: they are no foreign keys.
CREATE TABLE t_regression (
  regression_id INTEGER PRIMARY KEY AUTOINCREMENT,
  series_id INTEGER NOT NULL REFERENCES t_series,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  experiment_id INTEGER NOT NULL,
  previous_experiment_id INTEGER NOT NULL,
  "commit" TEXT NOT NULL,
  previous_commit TEXT NOT NULL,
  ratio REAL NOT NULL CHECK (abs(ratio) < 9e999),
  ratio_low REAL NOT NULL CHECK (abs(ratio_low) < 9e999),
  ratio_high REAL NOT NULL CHECK (abs(ratio_high) < 9e999),
  before_ns INTEGER NOT NULL,
  after_ns INTEGER NOT NULL,
  code_digest TEXT NOT NULL,
  detected_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  confirmation_experiment_id INTEGER NOT NULL,
  acknowledged_reason TEXT NOT NULL,
  num_before INTEGER NOT NULL,
  coverage REAL NOT NULL CHECK (abs(coverage) < 9e999),
  fixed_experiment_id INTEGER NOT NULL
) STRICT;
CREATE INDEX t_regression_series ON t_regression (series_id);
CREATE INDEX t_regression_state ON t_regression (state);

-- Which bits a tensor had on a device, kept as configurations come in. It outlives the experiments
-- that it names: they are no foreign keys. variants is a JSON array.
CREATE TABLE t_bits (
  bits_id INTEGER PRIMARY KEY,
  operator_name TEXT NOT NULL,
  workload TEXT NOT NULL,
  tensor TEXT NOT NULL,
  family TEXT NOT NULL,
  device_uuid TEXT NOT NULL,
  digest TEXT NOT NULL,
  device_model TEXT NOT NULL,
  first_experiment_id INTEGER NOT NULL,
  first_ns INTEGER NOT NULL,
  first_commit TEXT NOT NULL,
  last_experiment_id INTEGER NOT NULL,
  last_ns INTEGER NOT NULL,
  num_measurements INTEGER NOT NULL,
  variants TEXT NOT NULL CHECK (json_valid(variants)),
  UNIQUE (operator_name, workload, tensor, family, device_uuid, digest)
) STRICT;
CREATE INDEX t_bits_first ON t_bits (first_ns, bits_id);
CREATE INDEX t_bits_digest ON t_bits (digest);
