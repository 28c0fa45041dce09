import { createHash } from 'node:crypto';
import type { ReceiveAuthentication } from '@connector-frame/catalog/types';
import {
  isRecord,
  RequestError,
  type CreateReceiver,
  type RequestHead,
  type RequestResponse,
} from '@connector-frame/engine/connector-api';
import { createSenderCheck } from '../_shared/receive/authentication.js';
import type { Signature } from '../_shared/receive/sender-check.js';
import { headerOf } from '../_shared/receive/templates.js';
import { at, text } from '../_shared/read.js';
import { createFetchLogs, type WorkflowRun } from './fetch-logs.js';
import { logLines } from './log-lines.js';

/** GitHub sends at most 25 MB; a workflow run has some ten kilobytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const SIGNATURE: ReceiveAuthentication = {
  kind: 'hmac',
  header: 'X-Hub-Signature-256',
  prefix: 'sha256=',
  secret: '/secrets/webhook_secret',
  algorithm: 'sha256',
  encoding: 'hex',
};

/**
 * Creates a receiver for `workflow_run` events. GitHub shows each response beside its delivery, where
 * a failed one can be sent again.
 */
export const createWorkflowLogReceiver: CreateReceiver = (config, context) => {
  const check = createSenderCheck(SIGNATURE, config, context);
  const fetchLogs = createFetchLogs(config, context);
  const signatures = new WeakMap<RequestHead, Signature>();
  const scope = at(config, 'settings', 'scope');
  return {
    maxBytes: MAX_BYTES,

    begin(head) {
      if (head.path !== '') throw new RequestError(404, 'Not found. Use the address of the connector as it is.');
      check.begin(head);
      return undefined;
    },

    async read(body, head) {
      const signature = await check.verify(body, head);
      if (headerOf(head, 'X-GitHub-Event') !== 'workflow_run')
        return { lines: [], response: done('Only workflow_run events bring logs.') };
      const run = runIn(body);
      if (!run) return { lines: [], response: done('Nothing to fetch: the run is not completed.') };
      if (!isInScope(scope, run.repository))
        return { lines: [], response: done('Nothing to fetch: the repository is not one of this connector.') };
      if (signature?.isRepeated) return { lines: [], response: done('These logs were stored before.') };
      if (signature) signatures.set(head, signature);
      const lines = await logLines(run, await fetchLogs(run));
      const id = `${run.repository} ${run.id} ${run.attempt}`;
      return { lines, position: `run:${createHash('sha256').update(id).digest('base64')}` };
    },

    accepted(count, _tooLarge, head) {
      signatures.get(head)?.stored();
      return done(`Stored ${count} lines.`);
    },
  };
};

const done = (message: string): RequestResponse => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ message }),
});

/** Returns the completed run of an event, or `undefined`. @throws RequestError */
function runIn(body: Buffer): WorkflowRun | undefined {
  const event = parsed(body);
  if (at(event, 'action') !== 'completed') return undefined;
  const id = at(event, 'workflow_run', 'id');
  const attempt = at(event, 'workflow_run', 'run_attempt');
  const repository = text(event, 'repository', 'full_name') ?? '';
  // Both become part of a path.
  if (!Number.isSafeInteger(id) || !Number.isSafeInteger(attempt) || !/^[\w.-]+\/[\w.-]+$/.test(repository))
    throw new RequestError(400, 'The body is no workflow_run event.');
  return {
    repository,
    id: Number(id),
    attempt: Number(attempt),
    workflow: text(event, 'workflow_run', 'name'),
    conclusion: text(event, 'workflow_run', 'conclusion'),
    branch: text(event, 'workflow_run', 'head_branch'),
    commit: text(event, 'workflow_run', 'head_sha'),
    actor: text(event, 'workflow_run', 'actor', 'login'),
  };
}

function parsed(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (isRecord(value)) return value;
  } catch {
    // Reported below.
  }
  throw new RequestError(400, 'The body is not JSON. Choose the content type application/json for the webhook.');
}

/** The signature proves that GitHub has sent the event, but the token may read other repositories too. */
function isInScope(scope: unknown, repository: string): boolean {
  const [owner = '', name = ''] = repository.toLowerCase().split('/');
  const kind = text(scope, 'type') ?? 'repository';
  if (text(scope, kind, 'owner')?.toLowerCase() !== owner) return false;
  return kind === 'organization' || text(scope, kind, 'repo')?.toLowerCase() === name;
}
