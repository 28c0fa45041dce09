import { parentPort, workerData } from 'node:worker_threads';
import { JqInstance } from './jq-instance.mjs';

/** @import { JqResponse, JqJob, JqThreadData } from './protocol.js' */

/** @type {JqThreadData} */
const data = workerData;
// Discards what the package prints when it fails: unread output would accumulate.
console.error = () => undefined;
console.log = () => undefined;

/** @param {JqResponse | 'ready'} message */
function post(message) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}

parentPort?.on('message', (/** @type {JqJob} */ job) => {
  void new JqInstance(job, data).run().then(post);
});
post('ready');
