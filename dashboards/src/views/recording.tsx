// One imported file, row by row.
import { FailureClass, GetRecordingResponseSchema, type RecordedRow } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { count, micros } from '../format';
import { Empty, Page, Table, Tag } from '../parts';
import { Same } from '../parts/lists';
import { setQuery, type ViewProps } from '../router';

const pageSize = 100;

function median(row: RecordedRow): number | undefined {
  const sorted = [...row.samplesNs].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return row.hasTime ? row.timeNs : undefined;
  return sorted.length % 2 ? sorted[middle] : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

export default function View({ params, query }: ViewProps) {
  const after = query.get('after') ?? '0';
  const data = useData(
    (signal) =>
      call(
        'GetRecording',
        GetRecordingResponseSchema,
        { recording_id: params.id, page_size: pageSize, after_row: after },
        signal,
      ),
    [params.id, after],
  );
  return (
    <Page title={`Recording ${params.id ?? ''}`}>
      <Loaded data={data}>
        {(answer) => {
          const recording = answer.recording;
          const last = answer.rows.at(-1)?.row ?? 0;
          const names = recording?.parameters ?? [];
          const valuesAt = (index: number) => answer.rows.map((row) => row.values[index]);
          const isSame = (index: number) => answer.rows.length > 1 && new Set(valuesAt(index)).size === 1;
          const same = names.flatMap((name, index) => (isSame(index) ? [`${name}=${answer.rows[0]?.values[index]}`] : []));
          const isNumeric = (index: number) => valuesAt(index).every((value) => value !== '' && Number.isFinite(Number(value)));
          return (
            <>
              <p>
                {recording?.name || recording?.fileName} on {recording?.deviceName || 'an unnamed device'},{' '}
                {count(recording?.numRows ?? 0)} rows, from {recording?.fileName}
              </p>
              {(recording?.notes.length ?? 0) > 0 && (
                <ul class="quiet">
                  {recording?.notes.map((note) => <li key={note}>{note}</li>)}
                </ul>
              )}
              {same.length > 0 && <Same lines={[`the same in all rows below: ${same.join(', ')}`]} />}
              <Table
                caption={`Rows from ${count(Number(after) + 1)}`}
                rows={answer.rows}
                columns={[
                  { key: 'row', title: 'row', numeric: true, cell: (row) => count(row.row), sort: (row) => row.row },
                  ...(answer.rows.some((row) => row.name) ? [{ key: 'name', title: 'name', cell: (row: RecordedRow) => row.name }] : []),
                  {
                    key: 'median',
                    title: 'median',
                    numeric: true,
                    cell: (row) => micros(median(row) ?? 0),
                    sort: (row) => median(row) ?? Number.POSITIVE_INFINITY,
                  },
                  { key: 'samples', title: 'samples', numeric: true, cell: (row) => row.samplesNs.length },
                  ...names.flatMap((name, index) =>
                    isSame(index)
                      ? []
                      : [
                          {
                            key: `p${index}`,
                            title: name,
                            numeric: isNumeric(index),
                            cell: (row: RecordedRow) => row.values[index],
                          },
                        ],
                  ),
                  {
                    key: 'failure',
                    title: 'failure',
                    cell: (row) =>
                      row.failure > 0 && (
                        <>
                          <Tag tone="bad">{(FailureClass[row.failure] ?? '').toLowerCase().replaceAll('_', ' ')}</Tag>{' '}
                          <span class="quiet">{row.message}</span>
                        </>
                      ),
                  },
                ]}
                empty={<Empty>It has no rows.</Empty>}
              />
              <p class="actions">
                {after !== '0' && (
                  <button type="button" onClick={() => setQuery({ after: undefined })}>
                    The first {pageSize}
                  </button>
                )}
                {last > 0 && last < (recording?.numRows ?? 0) && (
                  <button type="button" onClick={() => setQuery({ after: String(last) })}>
                    The next {pageSize}
                  </button>
                )}
              </p>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
