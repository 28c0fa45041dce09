import type { PipelineStateAnswer } from '../../packages/service/src/pipelines/state-body.js';
import type { ServiceProcess } from './service-process.js';

export interface ClientAnswer<Body> {
  status: number;
  body: Body;
}

/** Calls a service that runs as a process of its own, as a host does. `undefined`: it did not answer. */
export interface ServiceClient {
  org: string;
  call<Body = unknown>(method: string, path: string, body?: object): Promise<ClientAnswer<Body> | undefined>;
  /** As `call`, for what must go well. */
  must<Body = unknown>(method: string, path: string, body?: object): Promise<Body>;
  make(kind: 'inputs' | 'outputs', type: string, settings?: object): Promise<string>;
  build(inputId: string, output?: object): Promise<{ pipeline_id: string; output_id: string }>;
  status(pipelineId: string): Promise<PipelineStateAnswer>;
  /** The address that records are sent to, and who may. */
  ingestOf(inputId: string): Promise<{ url: string; token: string }>;
}

/** @param key an API key of `org`; in a path `~` stands for it */
export async function connectClient(service: Pick<ServiceProcess, 'url'>, key: string): Promise<ServiceClient> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  let org = '';
  const call: ServiceClient['call'] = async (method, path, body) => {
    try {
      const url = service.url + path.replace('~', org);
      const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
    } catch {
      return undefined;
    }
  };
  const must: ServiceClient['must'] = async <Body>(method: string, path: string, body?: object) => {
    const answer = await call<Body>(method, path, body);
    if (answer && answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  };
  org = (await must<{ organization_id: string }>('GET', '/v3/api-keys/current')).organization_id;
  return {
    org,
    call,
    must,
    make: async (kind, type, settings = {}) =>
      (await must<{ id: string }>('POST', `/v2/~/${kind}`, { name: type, type, config: { settings } })).id,
    build: (inputId, output) =>
      must('POST', '/v2/~/integrations', { input_id: inputId, name: 'P', ...(output && { output }) }),
    status: (pipelineId) => must('GET', `/v2/~/pipelines/${pipelineId}/status`),
    ingestOf: async (inputId) =>
      (await must<{ ingest: { url: string; token: string } }>('GET', `/v1/~/inputs/${inputId}`)).ingest,
  };
}
