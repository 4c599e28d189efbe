// What goes on now, and what came out last.
import {
  ListDevicesResponseSchema,
  ListRegressionsResponseSchema,
  ListResponseSchema,
  type Device,
  type Experiment,
} from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, refresh, useData, useEvery } from '../data';
import { bytes, count, micros, plural, ratio } from '../format';
import { A, Command, Empty, Page, Section, Tag } from '../parts';
import { armsOf, Experiments, kindOf, Progress } from './experiment_rows';

// All is asked for again, and not watched: a browser has few connections to one daemon, and hosts have many devices.
const activeMilliseconds = 1500;
const pollMilliseconds = 5000;

function DeviceCard({ device }: { device: Device }) {
  const missing = device.capabilities.filter((capability) => !capability.available);
  return (
    <article class="card">
      <h3>
        {device.name}{' '}
        {device.available ? <Tag tone="good">available</Tag> : <Tag tone="bad">not available</Tag>}
      </h3>
      {device.model && <p>{device.model}</p>}
      {!device.available && <p>{device.reason}</p>}
      {device.available && (
        <p class="quiet">
          {device.computeCapability && `sm ${device.computeCapability}, `}
          {count(device.numMultiprocessors)} {device.backend === 'cuda' ? 'multiprocessors' : 'threads'},{' '}
          {bytes(device.memoryBytes)}
        </p>
      )}
      <p>
        {!device.available && device.runningExperimentId === 0n ? (
          'nothing runs'
        ) : device.runningExperimentId > 0n ? (
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
          {plural(device.numRunnerRestarts, 'runner')} replaced
          {device.lastRunnerFailure && `, the last one because ${device.lastRunnerFailure}`}
        </p>
      )}
      {missing.length > 0 && (
        <details>
          <summary>{plural(missing.length, 'capability', 'capabilities')} missing</summary>
          <ul>
            {missing.map((capability) => (
              <li key={capability.name}>
                {capability.name}
                {capability.reason && `: ${capability.reason}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </article>
  );
}

function Active({ experiment }: { experiment: Experiment }) {
  return (
    <tr>
      <td class="numeric">
        <A href={`/experiments/${experiment.experimentId}`}>{String(experiment.experimentId)}</A>
      </td>
      <td>{kindOf(experiment)}</td>
      <td>
        {experiment.spec?.operatorName} <span class="quiet">{armsOf(experiment)}</span>
      </td>
      <td>{experiment.spec?.device}</td>
      <td>
        <Progress experiment={experiment} />
      </td>
    </tr>
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
  const isBusy = now.state === 'ready' && now.value.length > 0;
  useEvery(isBusy ? activeMilliseconds : pollMilliseconds, () => refresh(now));
  useEvery(pollMilliseconds, () => refresh(devices, newest, regressions));
  return (
    <Page title="Overview">
      <Section title="Devices">
        <Loaded data={devices}>
          {(answer) => (
            <div class="cards">
              {answer.devices.length === 0 && <Empty>The daemon has no device.</Empty>}
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
              <div class="table" role="region" aria-label="Running and queued" tabIndex={0}>
                <table>
                  <thead>
                    <tr>
                      {['number', 'kind', 'what', 'device', 'progress'].map((title) => (
                        <th key={title} scope="col" class={title === 'number' ? 'numeric' : ''}>
                          {title}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {experiments.map((experiment) => (
                      <Active key={String(experiment.experimentId)} experiment={experiment} />
                    ))}
                  </tbody>
                </table>
              </div>
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
