// The daemon's read methods. What goes wrong is an ApiError with the daemon's own words.
import { fromJson, type DescMessage, type JsonValue, type MessageShape } from '@bufbuild/protobuf';
import { ExperimentSchema, type Experiment } from '../generated/proto/assay_pb';

export type Query = Record<string, string | number | bigint | boolean | string[] | undefined>;

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

function search(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== '' && each !== false) params.append(name, String(each));
    }
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}

export async function call<Desc extends DescMessage>(
  method: string,
  schema: Desc,
  query: Query = {},
  signal?: AbortSignal,
): Promise<MessageShape<Desc>> {
  let response: Response;
  try {
    response = await fetch(`/v1/${method}${search(query)}`, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('UNAVAILABLE', 'The daemon does not answer. Is assayd running?');
  }
  const text = await response.text();
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch {
    throw new ApiError('INTERNAL', `${method}: the answer (status ${response.status}) is no JSON`);
  }
  if (!response.ok) {
    const { code, message } = json as { code?: string; message?: string };
    throw new ApiError(code ?? String(response.status), message ?? `${method}: status ${response.status}`);
  }
  return fromJson(schema, json, { ignoreUnknownFields: true });
}

// The states of an experiment until its last one, or until there is no stream to be had. The returned function ends it.
export function watch(id: bigint, onState: (state: Experiment) => void, onEnd: () => void): () => void {
  const events = new EventSource(`/v1/Watch?experiment_id=${id}`);
  events.onmessage = (event: MessageEvent<string>) =>
    onState(fromJson(ExperimentSchema, JSON.parse(event.data) as JsonValue, { ignoreUnknownFields: true }));
  const end = () => {
    events.close();
    onEnd();
  };
  events.addEventListener('end', end);
  events.addEventListener('failed', end);
  // A connection that was lost is made again by the browser; one that was refused is not.
  events.onerror = () => events.readyState === EventSource.CLOSED && end();
  return () => events.close();
}
