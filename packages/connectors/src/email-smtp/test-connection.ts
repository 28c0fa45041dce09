import type { Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { readMailSettings } from './config.js';
import { mailFailureOf } from './failures.js';
import { openSession } from './session.js';

const subject = { product: 'the mail server', address: '/settings/host', credential: '/secrets/password' };

/** Connects and signs in; sends no message. */
export const testEmail: Tester = createTester(subject, async (config, { egress, signal }) => {
  const mail = readMailSettings(config);
  if (!('server' in mail)) return failed('invalid_config', mail.message, { at: mail.at });
  try {
    const session = await openSession(mail.server, egress, signal);
    session.close();
    return passed(mail.server.login ? 'Signed in to the mail server' : 'Connected to the mail server');
  } catch (error) {
    const failure = signal.aborted ? undefined : mailFailureOf(error);
    if (!failure) throw error;
    return failed(failure.reason, failure.message, { at: failure.at });
  }
});
