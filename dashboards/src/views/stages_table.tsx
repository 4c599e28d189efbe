// Both arms, stage by stage, with the interval of the ratio drawn beside it; one group of rows a configuration.
import { useState } from 'preact/hooks';
import {
  BitsCheck,
  ExperimentKind,
  Outcome,
  VerdictKind,
  type Configuration,
  type Experiment,
  type Setting,
  type StageVerdict,
} from '../../generated/proto/assay_pb';
import { arm, count, micros, ratio, settings, shared, shortDigest } from '../format';
import { Below, Tag, VerdictChip } from '../parts';
import { Interval, limitOf } from './interval';

const firstShown = 100;

export const newest = (configuration: Configuration) => configuration.verdicts[configuration.verdicts.length - 1];

// What is wrong where a check fails, in the client's words.
const failures: Record<number, string> = {
  [BitsCheck.BITS_FINISHED]: 'did not finish',
  [BitsCheck.BITS_WRITTEN]: 'not written',
  [BitsCheck.BITS_INPUTS]: 'inputs changed',
  [BitsCheck.BITS_REPEATABLE]: 'not repeatable',
  [BitsCheck.BITS_EQUAL]: 'bits differ',
  [BitsCheck.BITS_GOLDEN]: 'golden differs',
  [BitsCheck.BITS_TOLERANCE]: 'over tolerance',
  [BitsCheck.BITS_TIMED_LAUNCH]: 'timed launch differs',
};
export const failureWord = (check: BitsCheck) => failures[check] ?? 'unknown check';

function BitsOf({ configuration }: { configuration: Configuration }) {
  const failed = newest(configuration)?.rejectedBy || configuration.candidate?.bits?.failed || configuration.baseline?.bits?.failed;
  const digest = configuration.baseline?.outputs[0]?.digest ?? '';
  return (
    <>
      {failed ? (
        <Tag tone="bad">✕ {failureWord(failed)}</Tag>
      ) : newest(configuration)?.bitsEqual ? (
        <Tag tone="good">= equal</Tag>
      ) : (
        configuration.baseline?.bits && 'checked'
      )}
      {digest && (
        <code class="below" title={digest}>
          {shortDigest(digest)}
        </code>
      )}
    </>
  );
}

function Result({ configuration, stage }: { configuration: Configuration; stage?: StageVerdict }) {
  if (configuration.outcome !== Outcome.FINISHED) {
    return <Tag tone="bad">✕ {(Outcome[configuration.outcome] ?? 'unknown').toLowerCase().replaceAll('_', ' ')}</Tag>;
  }
  const kind = stage?.verdict ?? newest(configuration)?.verdict;
  return kind === undefined || kind === VerdictKind.NOT_JUDGED ? <>–</> : <VerdictChip kind={kind} />;
}

interface GroupProps {
  configuration: Configuration;
  isCompared: boolean;
  isChosen: boolean;
  limit: number;
  rest: (list: Setting[]) => Setting[];
  onChoose: (configuration: number) => void;
}

function Group({ configuration, isCompared, isChosen, limit, rest, onChoose }: GroupProps) {
  const verdict = newest(configuration);
  const stages: (StageVerdict | undefined)[] = verdict && verdict.stages.length > 0 ? verdict.stages : [undefined];
  const why = configuration.message || verdict?.reason;
  const axes = [configuration.workload?.name, settings(rest(configuration.workload?.axes ?? []))].filter(Boolean).join(' ');
  return (
    <tbody class={isChosen ? 'chosen' : ''}>
      {stages.map((stage, index) => (
        <tr key={stage?.stage ?? ''} class={stage?.stage === 'total' ? 'total' : ''}>
          {index === 0 && (
            <th scope="rowgroup" rowSpan={stages.length} class="head">
              {axes || 'the workload above'}
              {isCompared && <span class="quiet below">B: {arm(configuration.candidateArm)}</span>}
              <button
                type="button"
                class="small"
                aria-expanded={isChosen}
                aria-label={`Samples and bits of configuration ${configuration.configuration}`}
                onClick={() => onChoose(isChosen ? 0 : configuration.configuration)}
              >
                Samples and bits
              </button>
            </th>
          )}
          {index === 0 && (
            <td rowSpan={stages.length}>
              <BitsOf configuration={configuration} />
            </td>
          )}
          <td>{stage?.stage ?? '–'}</td>
          <td class="numeric">{stage ? micros(stage.baselineMedianNs) : '–'}</td>
          {isCompared && (
            <>
              <td class="numeric">{stage ? micros(stage.candidateMedianNs) : '–'}</td>
              <td class="numeric">{stage?.hasRatio ? ratio(stage.ratio) : '–'}</td>
              <td>
                {stage?.hasRatio && (
                  <span class="line">
                    <Interval stage={stage} limit={limit} />{' '}
                    <span class="quiet">
                      {ratio(stage.ratioLow)} to {ratio(stage.ratioHigh)}
                    </span>
                  </span>
                )}
              </td>
              <td>
                <Result configuration={configuration} stage={stage} />
              </td>
            </>
          )}
        </tr>
      ))}
      {why && <Below columns={isCompared ? 8 : 4}>{why}</Below>}
    </tbody>
  );
}

const totalOf = (configuration: Configuration) =>
  newest(configuration)?.stages.find((stage) => stage.stage === 'total')?.ratio ?? Infinity;

interface Props {
  experiment: Experiment;
  chosen: number;
  onChoose: (configuration: number) => void;
}

export function StagesTable({ experiment, chosen, onChoose }: Props) {
  const [isByRatio, setByRatio] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const { configurations } = experiment;
  const isCompared = experiment.spec?.kind !== ExperimentKind.MEASURE;
  const axes = shared(configurations.map((each) => each.workload?.axes ?? []));
  const stages = configurations.flatMap((each) => newest(each)?.stages ?? []);
  const limit = limitOf(stages);
  const sorted = isByRatio ? [...configurations].sort((a, b) => totalOf(a) - totalOf(b) || 0) : configurations;
  const shown = isWhole ? sorted : sorted.slice(0, firstShown);
  return (
    <>
      {axes.same.length > 0 && <p class="quiet">every workload: {settings(axes.same)}</p>}
      <div class="table" role="region" aria-label="Arms, stage by stage" tabIndex={0}>
        <table class="grouped">
          <caption>
            Median times of a call
            {isCompared && '. A is the baseline, B the candidate'}
            {stages.some((stage) => stage.hasRatio) && `; intervals are drawn from 1/${limit} to ${limit}, and left of 1 B is faster`}
          </caption>
          <thead>
            <tr>
              <th scope="col">workload</th>
              <th scope="col">bits</th>
              <th scope="col">stage</th>
              <th scope="col" class="numeric">
                {isCompared ? 'A' : 'median'}
              </th>
              {isCompared && (
                <>
                  <th scope="col" class="numeric">
                    B
                  </th>
                  <th scope="col" class="numeric" aria-sort={isByRatio ? 'ascending' : undefined}>
                    <button type="button" onClick={() => setByRatio(!isByRatio)}>
                      B/A<span aria-hidden="true">{isByRatio ? ' ↑' : ' ↕'}</span>
                    </button>
                  </th>
                  <th scope="col">interval</th>
                  <th scope="col">verdict</th>
                </>
              )}
            </tr>
          </thead>
          {shown.map((configuration) => (
            <Group
              key={configuration.configuration}
              configuration={configuration}
              isCompared={isCompared}
              isChosen={configuration.configuration === chosen}
              limit={limit}
              rest={axes.rest}
              onChoose={onChoose}
            />
          ))}
        </table>
      </div>
      {shown.length < sorted.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {count(sorted.length)}
        </button>
      )}
    </>
  );
}
