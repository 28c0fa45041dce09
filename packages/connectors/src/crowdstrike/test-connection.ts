import type { Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { clouds, falcon, listStreams, openFalcon, type FalconClouds } from './falcon.js';

/** Creates a tester that signs in and looks up the event stream, without opening it. */
export function createCrowdstrikeEventStreamTester(bases: FalconClouds = clouds): Tester {
  return createTester(falcon, async (config, { egress }) => {
    const session = await openFalcon(config, egress, bases);
    if ('ok' in session) return session;
    const found = await listStreams(egress, session, text(config.settings, 'app_name') ?? 'connector-frame');
    if ('ok' in found) return found;
    const { length } = found.streams;
    return passed(length === 1 ? 'Found 1 event stream' : `Found ${length} event streams`);
  });
}
