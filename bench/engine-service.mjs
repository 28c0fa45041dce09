/** Runs the whole service with its engine in a separate process, on an empty data folder. */
import { createServer } from '@connector-frame/service';

const server = await createServer({ ...process.env, SERVICE_PORT: '0', LOG_LEVEL: 'error' });
const { apiKey, teams } = await server.bootstrap({ organization: 'Bench', teams: ['team'] });
process.send({ url: server.url, apiKey, org: teams.team });
process.on('message', () => process.send({ memory: process.memoryUsage(), cpu: process.cpuUsage() }));
process.on('disconnect', () => void server.close().then(() => process.exit(0)));
