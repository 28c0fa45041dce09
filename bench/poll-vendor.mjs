/**
 * A vendor's API over HTTP. `/idle` never has events, `/busy` has 100 new events for each request.
 */
import { createServer } from 'node:http';
import { event } from './pipelines.mjs';

const EVENTS = 100;
let requests = 0;
let last = 0;

const server = createServer((request, response) => {
  requests += 1;
  const at = Date.now();
  const isBusy = request.url.startsWith('/busy');
  const data = isBusy ? Array.from({ length: EVENTS }, () => ({ ...event((last += 1)), id: `e${last}`, at })) : [];
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () =>
  process.send({ origin: `http://127.0.0.1:${server.address().port}`, events: EVENTS }),
);
process.on('message', () => process.send({ requests }));
process.on('disconnect', () => process.exit(0));
