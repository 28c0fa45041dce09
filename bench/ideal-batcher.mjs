/**
 * Baseline for delivery: accepts NDJSON bodies, responds once they are on disk, and sends their
 * records on, one request per 500 records or second, without a limit of concurrency.
 */
import { open, rm } from 'node:fs/promises';
import { Agent, createServer, request as send } from 'node:http';

const RECORDS = 500;
const WAIT = 1_000;
const [path, url] = process.argv.slice(2);
const file = await open(path, 'a');
const agent = new Agent({ keepAlive: true });
let lines = [];
let timer;

/** @param least smallest number of records to send */
function flush(least) {
  while (lines.length >= least) {
    const body = `[${lines.splice(0, RECORDS).join()}]`;
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    send(url, { agent, method: 'POST', headers }, (response) => response.resume()).end(body);
  }
  if (lines.length > 0) timer ??= setTimeout(onTimer, WAIT);
}

function onTimer() {
  timer = undefined;
  flush(1);
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const body = Buffer.concat(chunks);
    const received = body.toString('utf8').trimEnd().split('\n');
    for (const line of received) JSON.parse(line);
    await file.appendFile(body);
    await file.datasync();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    lines.push(...received);
    flush(RECORDS);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/` }));
process.on('disconnect', async () => {
  await file.close();
  await rm(path, { force: true });
  process.exit(0);
});
