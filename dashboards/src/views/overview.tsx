// What goes on now, and what came out last.
import { useCallback, useEffect, useState } from 'preact/hooks';
import {
  ListDevicesResponseSchema,
  ListRegressionsResponseSchema,
  ListResponseSchema,
  TaskState,
  type Device,
  type Experiment,
} from '../../generated/proto/assay_pb';
import { call, watch } from '../api';
import { Loaded, useData, useEvery } from '../data';
import { bytes, count, micros, ratio } from '../format';
import { A, Command, Empty, Page, Section, Tag } from '../parts';
import { armsOf, Experiments, kindOf } from './experiment_rows';

const pollMilliseconds = 5000;

function DeviceCard({ device }: { device: Device }) {
  const missing = device.capabilities.filter((capability) => !capability.available);
  return (
    <article class="card">
      <h3>
        {device.name}{' '}
        {device.available ? <Tag tone="good">available</Tag> : <Tag tone="bad">not available</Tag>}
      </h3>
      <p>{device.model || device.backend}</p>
      {!device.available && <p>{device.reason}</p>}
      {device.available && (
        <p class="quiet">
          {device.computeCapability && `sm ${device.computeCapability}, `}
          {count(device.numMultiprocessors)} {device.backend === 'cuda' ? 'multiprocessors' : 'threads'},{' '}
          {bytes(device.memoryBytes)}
        </p>
      )}
      <p>
        {device.runningExperimentId > 0n ? (
          <>
            running <A href={`/experiments/${device.runningExperimentId}`}>experiment {String(device.runningExperimentId)}</A>
          </>
        ) : (
          'idle'
        )}
        , {count(device.queueLength)} queued
      </p>
      {device.numRunnerRestarts > 0 && (
        <p class="quiet">
          {count(device.numRunnerRestarts)} runner restarts, the last: {device.lastRunnerFailure}
        </p>
      )}
      {missing.length > 0 && (
        <details>
          <summary>{missing.length} capabilities missing</summary>
          <ul>
            {missing.map((capability) => (
              <li key={capability.name}>
                {capability.name}: {capability.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </article>
  );
}

// Follows one experiment while it is shown.
function Live({ first }: { first: Experiment }) {
  const [shown, setShown] = useState(first);
  useEffect(() => setShown(first), [first]);
  useEffect(
    () => (first.state === TaskState.RUNNING ? watch(first.experimentId, setShown, () => undefined) : undefined),
    [first.experimentId, first.state],
  );
  const total = Math.max(shown.numConfigurations, 1);
  const done = Math.min((shown.numFinished + shown.progress) / total, 1);
  return (
    <li>
      <A href={`/experiments/${shown.experimentId}`}>{String(shown.experimentId)}</A> {kindOf(shown)}{' '}
      {shown.spec?.operatorName} {armsOf(shown)} on {shown.spec?.device}:{' '}
      {shown.state === TaskState.QUEUED ? (
        <>queued, place {shown.queuePosition}</>
      ) : (
        <>
          <progress value={done} max={1} aria-label={`Progress of experiment ${shown.experimentId}`} />{' '}
          {shown.numFinished} of {shown.numConfigurations}
        </>
      )}
      {shown.estimateNs > 0n && <span class="quiet">, about {micros(shown.estimateNs)} left</span>}
      {shown.message && <span class="quiet">, {shown.message}</span>}
    </li>
  );
}

async function active(signal: AbortSignal): Promise<Experiment[]> {
  const [running, queued] = await Promise.all(
    ['RUNNING', 'QUEUED'].map((state) => call('List', ListResponseSchema, { state, page_size: 20 }, signal)),
  );
  return [...(running?.experiments ?? []), ...(queued?.experiments ?? []).reverse()];
}

export default function View() {
  const devices = useData((signal) => call('ListDevices', ListDevicesResponseSchema, {}, signal), []);
  const now = useData(active, []);
  const newest = useData((signal) => call('List', ListResponseSchema, { page_size: 15 }, signal), []);
  const regressions = useData(
    (signal) => call('ListRegressions', ListRegressionsResponseSchema, { only_open: true, page_size: 10 }, signal),
    [],
  );
  const again = useCallback(() => {
    for (const data of [devices, now, newest, regressions]) if (data.state === 'ready') data.reload();
  }, [devices, now, newest, regressions]);
  useEvery(pollMilliseconds, again);
  return (
    <Page title="Overview">
      <Section title="Devices">
        <Loaded data={devices}>
          {(answer) => (
            <div class="cards">
              {answer.devices.map((device) => (
                <DeviceCard key={device.name} device={device} />
              ))}
            </div>
          )}
        </Loaded>
      </Section>
      <Section title="Running and queued">
        <Loaded data={now}>
          {(experiments) =>
            experiments.length === 0 ? (
              <Empty>
                Nothing runs. Ask for something:{' '}
                <Command text="assay compare qsa_decode --baseline one_cell --candidate two_cell" />
              </Empty>
            ) : (
              <ul>
                {experiments.map((experiment) => (
                  <Live key={String(experiment.experimentId)} first={experiment} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      <Section title="Open regressions">
        <Loaded data={regressions}>
          {(answer) =>
            answer.regressions.length === 0 ? (
              <Empty>None is open.</Empty>
            ) : (
              <ul>
                {answer.regressions.map((regression) => (
                  <li key={String(regression.regressionId)}>
                    <A href={`/trends?series=${regression.series?.seriesId ?? 0n}`}>
                      {regression.series?.operatorName} {regression.series?.arm || regression.series?.variant}
                    </A>{' '}
                    {micros(regression.beforeNs)} → {micros(regression.afterNs)} (×{ratio(regression.ratio)}) on{' '}
                    {regression.series?.deviceModel}: <A href="/regressions">{regression.reason}</A>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      <Section title="Newest experiments">
        <Loaded data={newest}>
          {(answer) => (
            <Experiments
              caption="The newest first"
              rows={answer.experiments}
              empty={
                <Empty>
                  No experiment yet. <Command text="assay operators" /> shows what can be measured.
                </Empty>
              }
            />
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
