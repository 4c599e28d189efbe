// All experiments, cut down by filters that are part of the address.
import { ListResponseSchema } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { Command, Empty, Page } from '../parts';
import { navigate, setQuery, type ViewProps } from '../router';
import { Experiments } from './experiment_rows';

const choices: Record<string, string[]> = {
  state: ['QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED', 'INTERRUPTED'],
  kind: ['COMPARE', 'MEASURE', 'CHECK', 'CALIBRATE', 'BENCH', 'SWEEP'],
  verdict: ['FASTER', 'SAME', 'SLOWER', 'UNDECIDED', 'REJECTED'],
};
const texts = ['operator_name', 'variant', 'device', 'commit', 'branch', 'labels'];
const dates = ['since', 'until'];
const titles: Record<string, string> = {
  ...{ operator_name: 'operator', labels: 'label (NAME=VALUE)' },
  ...{ since: 'since (UTC)', until: 'until, that day too (UTC)' },
};

// The start of a day in UTC, in nanoseconds.
function day(text: string, daysLater: number): string {
  const date = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return '';
  date.setUTCDate(date.getUTCDate() + daysLater);
  return `${date.getTime()}000000`;
}

export default function View({ query }: ViewProps) {
  const value = (name: string) => query.get(name) ?? '';
  const label = value('labels');
  const request = {
    page_size: 50,
    page_token: value('page_token'),
    ...Object.fromEntries([...Object.keys(choices), ...texts].map((name) => [name, value(name)])),
    labels: label && !label.includes('=') ? `${label}=` : label,
    submitted_after_ns: day(value('since'), 0),
    submitted_before_ns: day(value('until'), 1),
    only_changes: value('only_changes') === 'true',
  };
  const data = useData((signal) => call('List', ListResponseSchema, request, signal), [query.toString()]);
  return (
    <Page title="Experiments">
      <form
        class="filters"
        key={query.toString()}
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget as HTMLFormElement);
          const names = [...Object.keys(choices), ...texts, ...dates, 'only_changes'];
          const patch = Object.fromEntries(names.map((name) => [name, String(form.get(name) ?? '')]));
          setQuery({ ...patch, page_token: undefined });
        }}
      >
        {Object.entries(choices).map(([name, values]) => (
          <label key={name}>
            {name}
            <select name={name}>
              <option value="">any</option>
              {values.map((each) => (
                <option key={each} value={each} selected={each === value(name)}>
                  {each.toLowerCase()}
                </option>
              ))}
            </select>
          </label>
        ))}
        {texts.map((name) => (
          <label key={name}>
            {titles[name] ?? name}
            <input name={name} defaultValue={value(name)} placeholder="any" />
          </label>
        ))}
        {dates.map((name) => (
          <label key={name}>
            {titles[name]}
            <input type="date" name={name} defaultValue={value(name)} />
          </label>
        ))}
        <label class="check">
          <input type="checkbox" name="only_changes" value="true" checked={request.only_changes} />
          only where something changed
        </label>
        <button type="submit">Show</button>
        {query.toString() && (
          <button type="button" onClick={() => navigate('/experiments')}>
            Clear
          </button>
        )}
      </form>
      <Loaded data={data}>
        {(answer) => (
          <>
            <Experiments
              caption="The newest first"
              rows={answer.experiments}
              empty={
                <Empty>
                  {query.toString() ? (
                    'No experiment passes these filters.'
                  ) : (
                    <>
                      No experiment yet. <Command text="assay compare --help" />
                    </>
                  )}
                </Empty>
              }
            />
            <p class="actions">
              {request.page_token && (
                <button type="button" onClick={() => setQuery({ page_token: undefined })}>
                  The newest
                </button>
              )}
              {answer.nextPageToken && (
                <button type="button" onClick={() => setQuery({ page_token: answer.nextPageToken })}>
                  Older ones
                </button>
              )}
            </p>
          </>
        )}
      </Loaded>
    </Page>
  );
}
