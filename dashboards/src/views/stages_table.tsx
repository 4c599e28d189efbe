// Both arms, stage by stage, with the interval of the ratio drawn beside it.
import {
  BitsCheck,
  ExperimentKind,
  Outcome,
  type Configuration,
  type Experiment,
  type StageVerdict,
  type Verdict,
} from '../../generated/proto/assay_pb';
import { arm, micros, ratio, settings, shared, shortDigest } from '../format';
import { Table, Tag, VerdictChip } from '../parts';

interface Row {
  configuration: Configuration;
  verdict?: Verdict;
  stage?: StageVerdict;
  isFirst: boolean;
}

export const newest = (configuration: Configuration) => configuration.verdicts[configuration.verdicts.length - 1];

export function bitsWord(configuration: Configuration): string {
  const verdict = newest(configuration);
  const failed = configuration.candidate?.bits?.failed || configuration.baseline?.bits?.failed;
  if (failed) return (BitsCheck[failed] ?? 'failed').replace('BITS_', '').toLowerCase().replaceAll('_', ' ') + ' failed';
  if (verdict?.bitsEqual) return 'equal';
  return configuration.baseline?.bits ? 'checked' : '–';
}

// From 0.5 to 2 on a logarithmic line, with 1 in the middle; what lies outside is at the edge.
function Interval({ stage }: { stage: StageVerdict }) {
  const width = 110;
  const place = (value: number) => (Math.min(Math.max(Math.log2(value), -1), 1) + 1) * (width / 2 - 4) + 4;
  const text = `${ratio(stage.ratio)}, interval ${ratio(stage.ratioLow)} to ${ratio(stage.ratioHigh)}`;
  return (
    <svg class="interval" width={width} height="14" role="img" aria-label={text}>
      <title>{text}</title>
      <line class="axis" x1={place(1)} x2={place(1)} y1="0" y2="14" />
      <line class="span" x1={place(stage.ratioLow)} x2={place(stage.ratioHigh)} y1="7" y2="7" />
      <circle class="point" cx={place(stage.ratio)} cy="7" r="3" />
    </svg>
  );
}

function rowsOf(experiment: Experiment): Row[] {
  return experiment.configurations.flatMap((configuration): Row[] => {
    const verdict = newest(configuration);
    const stages = verdict?.stages ?? [];
    if (stages.length === 0) return [{ configuration, verdict, isFirst: true }];
    return stages.map((stage, index) => ({ configuration, verdict, stage, isFirst: index === 0 }));
  });
}

interface Props {
  experiment: Experiment;
  onChoose: (configuration: number) => void;
}

export function StagesTable({ experiment, onChoose }: Props) {
  const isCompared = experiment.spec?.kind !== ExperimentKind.MEASURE;
  const axes = shared(experiment.configurations.map((each) => each.workload?.axes ?? []));
  return (
    <>
    {axes.same.length > 0 && <p class="quiet">every workload: {settings(axes.same)}</p>}
    <Table
      caption="A is the baseline, B the candidate; the line of an interval goes from half to twice the time"
      rows={rowsOf(experiment)}
      columns={[
        {
          key: 'configuration',
          title: '',
          cell: (row) =>
            row.isFirst && (
              <button type="button" class="small" onClick={() => onChoose(row.configuration.configuration)}>
                Samples<span class="quiet"> {row.configuration.configuration}</span>
              </button>
            ),
        },
        {
          key: 'workload',
          title: 'workload',
          cell: (row) =>
            row.isFirst && (
              <>
                {row.configuration.workload?.name} {settings(axes.rest(row.configuration.workload?.axes ?? []))}
              </>
            ),
        },
        { key: 'candidate', title: 'B', cell: (row) => row.isFirst && arm(row.configuration.candidateArm) },
        { key: 'stage', title: 'stage', cell: (row) => row.stage?.stage ?? '' },
        {
          key: 'a',
          title: 'A',
          numeric: true,
          cell: (row) => (row.stage ? micros(row.stage.baselineMedianNs) : '–'),
        },
        {
          key: 'b',
          title: 'B',
          numeric: true,
          cell: (row) => (row.stage && isCompared ? micros(row.stage.candidateMedianNs) : '–'),
        },
        {
          key: 'ratio',
          title: 'B/A',
          numeric: true,
          cell: (row) => (row.stage?.hasRatio ? ratio(row.stage.ratio) : '–'),
          sort: (row) => row.stage?.ratio ?? 0,
        },
        {
          key: 'interval',
          title: 'interval',
          cell: (row) =>
            row.stage?.hasRatio && (
              <>
                [{ratio(row.stage.ratioLow)}, {ratio(row.stage.ratioHigh)}] <Interval stage={row.stage} />
              </>
            ),
        },
        {
          key: 'bits',
          title: 'bits',
          cell: (row) =>
            row.isFirst && (
              <>
                {bitsWord(row.configuration)}{' '}
                <code>{shortDigest(row.configuration.baseline?.outputs[0]?.digest ?? '')}</code>
              </>
            ),
        },
        {
          key: 'verdict',
          title: 'verdict',
          cell: (row) =>
            row.configuration.outcome !== Outcome.FINISHED ? (
              <Tag tone="bad">{(Outcome[row.configuration.outcome] ?? '').toLowerCase().replace('_', ' ')}</Tag>
            ) : row.stage ? (
              <VerdictChip kind={row.stage.verdict} />
            ) : row.verdict ? (
              <VerdictChip kind={row.verdict.verdict} />
            ) : (
              ''
            ),
        },
        {
          key: 'reason',
          title: 'why',
          cell: (row) => (
            <span class="why">{row.isFirst ? row.configuration.message || row.verdict?.reason : row.stage?.reason}</span>
          ),
        },
      ]}
    />
    </>
  );
}
