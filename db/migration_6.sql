-- From version 5: what an experiment is part of, series over time, where they change.
ALTER TABLE t_experiment ADD COLUMN "commit" TEXT NOT NULL DEFAULT '';
ALTER TABLE t_experiment ADD COLUMN branch TEXT NOT NULL DEFAULT '';
ALTER TABLE t_experiment ADD COLUMN severity INTEGER NOT NULL DEFAULT 7;
ALTER TABLE t_experiment ADD COLUMN variants TEXT NOT NULL DEFAULT '[]';
UPDATE t_experiment SET
  severity = coalesce((SELECT min(coalesce(
      (SELECT CASE k.passed WHEN 0 THEN 1 ELSE 7 END FROM t_check k
        WHERE k.configuration_id = c.configuration_id),
      (SELECT v.severity FROM t_verdict v
        WHERE v.configuration_id = c.configuration_id ORDER BY v.position DESC LIMIT 1), 7))
    FROM t_configuration c WHERE c.experiment_id = t_experiment.experiment_id), 7),
  variants = (SELECT json_group_array(DISTINCT variant) FROM (
      SELECT t_experiment.spec ->> '$.baseline.variant' AS variant
      UNION ALL
      SELECT j.value ->> '$.variant' FROM json_each(t_experiment.spec, '$.candidates') j)
    WHERE variant <> '');

DROP INDEX t_experiment_page;
CREATE INDEX t_experiment_page
  ON t_experiment (experiment_id DESC, state, operator_name, device, kind, severity, submitted_ns,
    "commit", branch, device_id, variants);
ALTER TABLE t_configuration ADD COLUMN in_history INTEGER NOT NULL DEFAULT 0;
-- What is still to be made points and bits of.
CREATE INDEX t_configuration_pending ON t_configuration (configuration_id) WHERE in_history = 0;

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
