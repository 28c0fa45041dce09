import type { PipelineStateResponse } from '../../packages/service/src/pipelines/state-body.js';
import type { ServiceProcess } from './service-process.js';

export interface ClientAnswer<Body> {
  status: number;
  body: Body;
}

/**
 * A client of a service that runs in a separate process. A call resolves with `undefined` if the
 * service did not respond.
 */
export interface ServiceClient {
  org: string;
  call<Body = unknown>(method: string, path: string, body?: object): Promise<ClientAnswer<Body> | undefined>;
  /** Like `call`, but throws if the call fails. */
  must<Body = unknown>(method: string, path: string, body?: object): Promise<Body>;
  make(kind: 'inputs' | 'outputs', type: string, settings?: object): Promise<string>;
  build(inputId: string, output?: object): Promise<{ pipeline_id: string; output_id: string }>;
  status(pipelineId: string): Promise<PipelineStateResponse>;
  /** Returns the URL that accepts records for an input, and the token for it. */
  ingestOf(inputId: string): Promise<{ url: string; token: string }>;
}

/**
 * Connects to a service.
 * @param key an API key of `org`; `~` in a path is replaced by the organization's id
 */
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
    const response = await call<Body>(method, path, body);
    if (response && response.status < 300) return response.body;
    throw new Error(`${method} ${path}: ${JSON.stringify(response)}`);
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
