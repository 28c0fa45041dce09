/**
 * Baseline for the engine: accepts NDJSON bodies, parses each line, appends the body to a file, and
 * responds once it is on disk.
 */
import { open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';

const path = process.argv[2];
const file = await open(path, 'a');

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const body = Buffer.concat(chunks);
    let accepted = 0;
    for (const line of body.toString('utf8').split('\n')) {
      if (line === '') continue;
      JSON.parse(line);
      accepted += 1;
    }
    await file.appendFile(body);
    await file.datasync();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ accepted }));
  });
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/` }));
process.on('message', () => process.send({ cpu: process.cpuUsage() }));
process.on('disconnect', async () => {
  await file.close();
  await rm(path, { force: true });
  process.exit(0);
});
