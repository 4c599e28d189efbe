-- From version 1: what checks say of the tolerance and of what was not run, and noise by launch mode.
-- A table is made anew where its text changes, so that every file of version 2 has the same.
ALTER TABLE t_check RENAME TO t_check_1;
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
INSERT INTO t_check (
  configuration_id, suite, name, summary, passed, num_cases, num_differing, num_nontrivial,
  counts, rejected_by, detail, drift, tolerance_used, digests, arms, num_goldens_reproduced,
  num_goldens_missing, num_goldens_differing, first_golden_differing, tolerance_buckets,
  tolerance_alarm, not_run)
SELECT
  configuration_id, suite, name, summary, passed, num_cases, num_differing, num_nontrivial,
  counts, rejected_by, detail, drift, tolerance_used, digests, arms, num_goldens_reproduced,
  num_goldens_missing, num_goldens_differing, first_golden_differing, '[]', 0, ''
FROM t_check_1;
DROP TABLE t_check_1;

ALTER TABLE t_noise_floor RENAME TO t_noise_floor_1;
CREATE TABLE t_noise_floor (
  device_uuid TEXT NOT NULL,
  operator_name TEXT NOT NULL,
  workload TEXT NOT NULL,
  cache_mode TEXT NOT NULL,
  launch_mode TEXT NOT NULL,
  noise_floor REAL NOT NULL CHECK (noise_floor >= 0 AND noise_floor < 9e999),
  PRIMARY KEY (device_uuid, operator_name, workload, cache_mode, launch_mode)
) STRICT, WITHOUT ROWID;
INSERT INTO t_noise_floor
  (device_uuid, operator_name, workload, cache_mode, launch_mode, noise_floor)
SELECT device_uuid, operator_name, workload, cache_mode, 'STREAM', noise_floor
FROM t_noise_floor_1;
DROP TABLE t_noise_floor_1;
