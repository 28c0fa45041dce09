import type { AccountWindow } from '../model/account.js';
import type { Connector, ConnectorType } from '../model/wire.js';
import { exampleConnector, exampleType } from './example-type.js';
import { errorResponse, json } from './fake-service.js';
import { openedForm, type OpenedForm } from './open-form.js';

/** The example type, whose token can be an account at Acme. */
export const accountType: ConnectorType = { ...exampleType, oauth: { name: 'Acme', secret: '/secrets/token' } };

/** A saved connector whose account the vendor no longer accepts. */
export const endedConnector: Connector = {
  ...exampleConnector,
  config: {
    ...exampleConnector.config,
    secrets: {
      ...exampleConnector.config.secrets,
      token: {
        id: 'sec_1',
        updated_at: exampleConnector.created_at,
        account: { status: 'needs_reauth', name: 'octocat' },
      },
    },
  },
};

/** A window whose end the test decides. */
export interface TestWindow extends AccountWindow {
  /** Addresses that it was sent to. */
  addresses: string[];
  closed: boolean;
}

export function testWindow(): TestWindow {
  const addresses: string[] = [];
  return {
    addresses,
    closed: false,
    go: (url) => void addresses.push(url),
    close() {
      this.closed = true;
    },
    done: new Promise(() => undefined),
  };
}

export type AccountOutcome = 'pending' | 'connected' | 'unnamed' | 'cancelled' | 'failed' | 'expired';

const started = { id: 'consent-1', url: 'http://service.test/v1/oauth/start?state=s' };

/** Returns the response of the service to a read of the status. */
export function statusResponse(outcome: AccountOutcome): Response {
  if (outcome === 'expired') return errorResponse(404, 'not_found');
  if (outcome === 'unnamed') return json({ status: 'connected' });
  return json({ status: outcome, ...(outcome === 'connected' && { account: 'octocat' }) });
}

/** Opens a form whose service offers an account, and queues what it responds. */
export async function openAccountForm(
  outcomes: readonly AccountOutcome[],
  openWindow: () => AccountWindow | undefined,
  existing?: Connector,
): Promise<OpenedForm> {
  const opened = await openedForm(existing ? { existingId: 'con_1' } : {}, {
    type: accountType,
    openWindow,
    ...(existing && { connector: existing }),
  });
  opened.service.next.push(json(started), ...outcomes.map(statusResponse));
  return opened;
}
