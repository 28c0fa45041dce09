/**
 * A destination for the `http` output that discards every request body. The argument is its latency
 * in milliseconds.
 */
import { createServer } from 'node:http';

const latency = Number(process.argv[2] ?? 0);
const figures = { requests: 0, bytes: 0 };

const server = createServer((request, response) => {
  request.on('data', (chunk) => (figures.bytes += chunk.length));
  request.on('end', () => {
    figures.requests += 1;
    const respond = () => response.writeHead(204).end();
    if (latency > 0) setTimeout(respond, latency);
    else respond();
  });
});
// Clients decide how long idle connections live.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/` }));
process.on('message', () => process.send(figures));
process.on('disconnect', () => process.exit(0));
