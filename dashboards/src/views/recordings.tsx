// Files of other tools that were imported.
import { ListRecordingsResponseSchema } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { count, time } from '../format';
import { A, Command, Empty, Page, Table } from '../parts';

export default function View() {
  const data = useData((signal) => call('ListRecordings', ListRecordingsResponseSchema, {}, signal), []);
  return (
    <Page title="Recordings" intro="What other tools measured, kept as it was written.">
      <Loaded data={data}>
        {(answer) => (
          <Table
            caption="The newest first"
            rows={answer.recordings}
            columns={[
              {
                key: 'id',
                title: 'number',
                numeric: true,
                cell: (row) => <A href={`/recordings/${row.recordingId}`}>{String(row.recordingId)}</A>,
                sort: (row) => row.recordingId,
              },
              { key: 'name', title: 'kernel', cell: (row) => row.name || row.fileName, sort: (row) => row.name },
              { key: 'file', title: 'file', cell: (row) => row.fileName },
              { key: 'format', title: 'format', cell: (row) => row.format.replaceAll('_', ' ') },
              { key: 'device', title: 'device', cell: (row) => row.deviceName },
              { key: 'rows', title: 'rows', numeric: true, cell: (row) => count(row.numRows), sort: (row) => row.numRows },
              { key: 'time', title: 'imported', cell: (row) => time(row.importedNs), sort: (row) => row.importedNs },
            ]}
            empty={
              <Empty>
                Nothing is imported: <Command text="assay import cache.json.gz" /> reads files of Kernel Tuner, T4, Google
                Benchmark and nvbench.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  );
}
