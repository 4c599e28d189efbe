// One sweep: winner and ties, where the time goes over its parameters, and what failed.
import {
  ExperimentSchema,
  ListTuningsResponseSchema,
  type Experiment,
  type Tuning,
} from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Chart } from '../charts/chart';
import { Loaded, useData } from '../data';
import { arm, count, micros, percent, ratio, settings } from '../format';
import { A, Command, Empty, Page, Section, StateChip, Table, Tag } from '../parts';
import { setQuery, type ViewProps } from '../router';
import { spaced } from '../workloads';
import { axesOf, failuresOf, heatOption, parallelOption, rankedOf, workloadsOf, type Try } from './sweep_options';

// Of a tie only what is otherwise than in the winner.
function Ties({ tuning }: { tuning: Tuning }) {
  const winner = new Map(tuning.arm?.parameters.map(({ name, value }) => [name, value]));
  return (
    <>
      {tuning.ties.map((tie) => (
        <span key={arm(tie)} class="below">
          {settings(tie.parameters.filter(({ name, value }) => winner.get(name) !== value)) || arm(tie)}
        </span>
      ))}
    </>
  );
}

function Winner({ experiment, tunings, tries }: { experiment: Experiment; tunings: Tuning[]; tries: Try[] }) {
  const entries = tunings.filter((tuning) => tuning.experimentId === experiment.experimentId);
  if (entries.length > 0) {
    return (
      <Table
        caption="What the sweep found best"
        rows={entries}
        columns={[
          { key: 'workload', title: 'workload', cell: (row) => spaced(row.workload) },
          { key: 'arm', title: 'winner', cell: (row) => arm(row.arm) },
          { key: 'median', title: 'median', numeric: true, cell: (row) => micros(row.medianNs) },
          {
            key: 'ratio',
            title: 'of what it began with',
            numeric: true,
            cell: (row) => `${ratio(row.ratio)} [${ratio(row.ratioLow)}, ${ratio(row.ratioHigh)}]`,
          },
          {
            key: 'ties',
            title: 'not to be told from it',
            cell: (row) => (row.ties.length === 0 ? 'none' : <Ties tuning={row} />),
          },
          { key: 'noise', title: 'within', numeric: true, cell: (row) => percent(row.noise) },
        ]}
      />
    );
  }
  const best = rankedOf(tries)[0];
  return best ? (
    <p>
      No entry of the tuning table is from this sweep: it has not ended, or a later one replaced it. Fastest of what was
      tried: <strong>{best.arm}</strong>, {micros(best.ns ?? 0)}.
    </p>
  ) : (
    <Empty>None of what was tried may rank.</Empty>
  );
}

function Charts({ tries, query }: { tries: Try[]; query: URLSearchParams }) {
  const axes = axesOf(tries);
  const varied = axes.filter((axis) => axis.values.length > 1);
  const x = varied.find((axis) => axis.name === query.get('x')) ?? varied[0];
  const y = varied.find((axis) => axis.name === query.get('y') && axis !== x) ?? varied.find((axis) => axis !== x);
  if (!x) return <Empty>One configuration only: nothing varies.</Empty>;
  const pick = (name: 'x' | 'y', value?: string) => (
    <label>
      {name === 'x' ? 'across' : 'down'}{' '}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {varied.map((axis) => (
          <option key={axis.name}>{axis.name}</option>
        ))}
      </select>
    </label>
  );
  const fixed = axes.filter((axis) => axis.values.length === 1);
  return (
    <>
      <p class="quiet">
        Each was timed next to the best so far, and the ratio decides; medians are of different moments.
        {fixed.length > 0 && ` The same in all: ${fixed.map((axis) => `${axis.name}=${axis.values[0]}`).join(', ')}.`}
      </p>
      {y && (
        <>
          <p class="actions">
            {pick('x', x.name)} {pick('y', y.name)}
          </p>
          <Chart
            label={`Median time over ${x.name} and ${y.name}; of the others the best. Empty: nothing there may rank`}
            option={heatOption(tries, x, y)}
            height={136 + 34 * y.values.length}
          />
        </>
      )}
      <Chart
        label="Every configuration that may rank, a line each, coloured by its time"
        option={parallelOption(tries, varied)}
        height={360}
        table={
          <Table
            caption="Configurations, the fastest first"
            rows={rankedOf(tries).slice(0, 200)}
            columns={[
              { key: 'arm', title: 'arm', cell: (row) => row.arm },
              { key: 'time', title: 'median', numeric: true, cell: (row) => micros(row.ns ?? 0), sort: (row) => row.ns ?? 0 },
              { key: 'ratio', title: 'of the best so far', numeric: true, cell: (row) => ratio(row.ratio ?? NaN) },
            ]}
          />
        }
      />
    </>
  );
}

export default function View({ params, query }: ViewProps) {
  const data = useData(
    async (signal) => {
      const [experiment, tunings] = await Promise.all([
        call('Get', ExperimentSchema, { experiment_id: params.id }, signal),
        call('ListTunings', ListTuningsResponseSchema, {}, signal),
      ]);
      return { experiment, tunings: tunings.tunings };
    },
    [params.id],
  );
  return (
    <Page title={`Sweep ${params.id ?? ''}`}>
      <Loaded data={data}>
        {({ experiment, tunings }) => {
          const workloads = workloadsOf(experiment);
          const workload = workloads.find((each) => each.text === query.get('workload')) ?? workloads[0];
          const failures = failuresOf(workloads.flatMap((each) => each.tries));
          return (
            <>
              <p>
                {experiment.spec?.operatorName} {experiment.spec?.candidates[0]?.variant} on{' '}
                {experiment.device?.model || experiment.spec?.device}, {experiment.spec?.sweep?.strategy || 'exhaustive'}{' '}
                <StateChip state={experiment.state} />{' '}
                <A href={`/experiments/${experiment.experimentId}`}>what was asked, and the receipt</A>
              </p>
              <Winner experiment={experiment} tunings={tunings} tries={workload?.tries ?? []} />
              {experiment.configurations.length === 0 ? (
                <Empty>
                  {experiment.numFinished > 0 ? (
                    <>
                      Its {count(experiment.numFinished)} configurations are more than fit here:{' '}
                      <Command text={`assay show ${experiment.experimentId}`} />
                    </>
                  ) : (
                    'Nothing is finished yet.'
                  )}
                </Empty>
              ) : (
                <Section title="Over the parameters">
                  {workloads.length > 1 && (
                    <p class="actions">
                      <label>
                        workload{' '}
                        <select
                          value={workload?.text}
                          onChange={(event) => setQuery({ workload: event.currentTarget.value })}
                        >
                          {workloads.map((each) => (
                            <option key={each.text}>{each.text}</option>
                          ))}
                        </select>
                      </label>
                    </p>
                  )}
                  <Charts tries={workload?.tries ?? []} query={query} />
                </Section>
              )}
              <Section title="What failed">
                <Table
                  caption="By class; a failure never ranks"
                  rows={failures}
                  columns={[
                    { key: 'class', title: 'class', cell: (row) => <Tag tone="bad">{row.name}</Tag> },
                    { key: 'num', title: 'configurations', numeric: true, cell: (row) => count(row.num) },
                    { key: 'first', title: 'the first', cell: (row) => row.firstArm },
                    { key: 'message', title: 'what it said', cell: (row) => row.firstMessage },
                  ]}
                  empty={<Empty>Nothing failed.</Empty>}
                />
              </Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
