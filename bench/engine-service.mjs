/** Runs the whole service with its engine in a separate process, on an empty data folder. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createServer } from '@connector-frame/service';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

const server = await createServer({ ...process.env, SERVICE_PORT: '0', LOG_LEVEL: 'error' });
// `further`: another process of the same service, whose key must stay valid.
const isFurther = process.argv.includes('further');
const made = isFurther ? undefined : await server.bootstrap({ organization: 'Bench', teams: ['team'] });
process.send({ url: server.url, apiKey: made?.apiKey, org: made?.teams.team, parent: made?.organizationId });
process.on('message', (asked) => {
  if (asked === 'collect') for (let time = 0; time < 3; time += 1) collectGarbage();
  process.send({ memory: process.memoryUsage(), cpu: process.cpuUsage() });
});
process.on('disconnect', () => void server.close().then(() => process.exit(0)));
