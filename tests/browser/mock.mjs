// A daemon that was made up: serves the built page under the content policy of the real one, and answers every read
// method with made-up data, with nothing, or with an error. As the real one it refuses a field that the proto lacks.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { dashboards } from './browser.mjs';
import * as made from './mock_data.mjs';

const policy = /"Content-Security-Policy",\s*((?:"[^"]*"\s*)+)/.exec(
  readFileSync(join(dashboards, '../server/http_guard.cpp'), 'utf8'),
)[1];
const headers = {
  'Content-Security-Policy': [...policy.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join(''),
  'X-Content-Type-Options': 'nosniff',
};
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

// The messages, as the page has them.
async function loadProto() {
  const { buildSync } = createRequire(join(dashboards, 'x.js'))('esbuild');
  const contents = `export * from './generated/proto/assay_pb'; export { fromJson } from '@bufbuild/protobuf';`;
  const built = buildSync({ stdin: { contents, resolveDir: dashboards }, bundle: true, format: 'esm', write: false });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString('base64')}`);
}

class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

function checkQuery(message, query) {
  for (const [name, value] of query) {
    const field = message.fields.find((each) => each.name === name);
    const refuse = (why) => {
      throw new Refused(400, 'INVALID_ARGUMENT', `${name}: ${why}`);
    };
    if (!field) refuse(`${message.name} has no such field`);
    if (field.fieldKind === 'enum' && !field.enum.values.some((each) => each.name === value)) refuse(`${value} is none`);
    if (field.fieldKind === 'list' && field.listKind === 'message' && !value.includes('=')) refuse('must be NAME=VALUE');
    if (field.fieldKind !== 'list' && query.getAll(name).length > 1) refuse('comes twice');
    if (field.fieldKind === 'scalar' && name.endsWith('_id') && !/^\d+$/.test(value)) refuse(`"${value}" is no number`);
  }
}

function full(method, query, running) {
  const id = query.get('experiment_id');
  switch (method) {
    case 'List': {
      const all = made.experiments.map((each) => (each === made.running ? running : each));
      const fits = (name, of) => !query.has(name) || query.get(name) === of;
      return {
        experiments: all
          .filter((each) => fits('kind', each.spec.kind) && fits('state', each.state) && fits('verdict', each.worst_verdict))
          .map(({ configurations, ...summary }) => summary),
      };
    }
    case 'Get': {
      const found = id === '12' ? running : made.experiments.find((each) => each.experiment_id === id);
      if (!found) throw new Refused(404, 'NOT_FOUND', `no experiment ${id} ${made.hostile.image}`);
      const chosen = query.get('configuration');
      const configurations = (found.configurations ?? []).filter((each) => !chosen || String(each.configuration) === chosen);
      return { ...found, configurations };
    }
    case 'ListDevices':
      return { devices: made.devices };
    case 'ListSeries':
      return { series: [made.series] };
    case 'Trend':
      return { trends: [made.trend] };
    case 'ListRegressions':
      return { regressions: query.has('only_open') ? made.regressions.slice(0, 1) : made.regressions };
    case 'BitHistory':
      return { entries: made.bits };
    case 'ListTunings':
      return { tunings: made.tunings };
    case 'ListRecordings':
      return { recordings: [made.recording] };
    case 'GetRecording':
      return { recording: made.recording, rows: made.recordedRows };
    case 'Receipt': {
      const sweep = made.sweepReceipts[query.get('experiment_ids')];
      return sweep ? { receipt: sweep } : made.receipt;
    }
    case 'Query':
      if (/FROM columns/.test(query.get('sql'))) return made.documented;
      if (/nonsense/.test(query.get('sql'))) throw new Refused(400, 'INVALID_ARGUMENT', `sql: no such table ${made.hostile.image}`);
      return { ...made.rows(['id', 'text'], [[10, made.hostile.image], [9, null], [11, 'a,"b"']]), truncated: 'max_rows 3' };
    default:
      return {};
  }
}

// `mode` is full, empty or failing; finish() ends the experiment that runs. What was asked in a wrong way is in `refused`.
export async function startMock(page) {
  const proto = await loadProto();
  const streams = new Set();
  let running = made.running;
  const mock = { mode: 'full', refused: [] };

  const answer = (method, query) => {
    const found = proto.Assay.methods.find((each) => each.name === method);
    if (!found) throw new Refused(404, 'NOT_FOUND', `no method ${method}`);
    checkQuery(found.input, query);
    if (mock.mode === 'failing') throw new Refused(500, 'INTERNAL', `the database is locked ${made.hostile.script}`);
    if (mock.mode === 'empty' && method === 'Get') throw new Refused(404, 'NOT_FOUND', 'no experiment');
    const json = mock.mode === 'empty' ? {} : full(method, query, running);
    // Made-up data with a name that the proto lacks would be looked at by nobody.
    proto.fromJson(found.output, JSON.parse(JSON.stringify(json)));
    return json;
  };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://mock');
    const method = /^\/v1\/(\w+)$/.exec(pathname)?.[1];
    if (method === 'Watch') {
      response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(running)}\n\n`);
      streams.add(response);
      return;
    }
    if (method) {
      try {
        const json = JSON.stringify(answer(method, searchParams));
        response.writeHead(200, { ...headers, 'Content-Type': 'application/json' }).end(json);
      } catch (error) {
        if (error.status === 400 && mock.mode !== 'failing') mock.refused.push(error.message);
        if (!error.status) mock.refused.push(`${method}: ${error.message}`);
        response.writeHead(error.status ?? 500, { ...headers, 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ code: error.code ?? 'INTERNAL', message: error.message }));
      }
      return;
    }
    const file = join(page, extname(pathname) && existsSync(join(page, pathname)) ? pathname : 'index.html');
    response.writeHead(200, { ...headers, 'Content-Type': types[extname(file)] }).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

  mock.address = `http://127.0.0.1:${server.address().port}`;
  mock.finish = () => {
    running = made.finished;
    for (const stream of streams) stream.end(`data: ${JSON.stringify(running)}\n\nevent: end\ndata: {}\n\n`);
  };
  mock.stop = () => {
    server.closeAllConnections?.();
    server.close();
  };
  return mock;
}
