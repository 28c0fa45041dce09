/**
 * Sends requests over keep-alive connections from a separate process, so its CPU time is not
 * attributed to the server. `targets`, each with `url` and `headers`, take turns.
 */
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

function send({ url, method, headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode < 400 ? resolve() : reject(new Error(`status ${response.statusCode}`)),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Bodies for the next calls, received ahead of them. */
let bodies = [];

process.on('message', async ({ calls = 0, next, targets, ...what }) => {
  if (next) bodies = next;
  let left = calls;
  const worker = async () => {
    while (left-- > 0) await send({ body: bodies[left], ...what, ...targets?.[left % targets.length] });
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  process.send('done');
});
