import { parentPort, workerData } from 'node:worker_threads';
import { JqInstance } from './jq-instance.mjs';

/** @import { JqAnswer, JqJob, JqThreadData } from './protocol.js' */

/** @type {JqThreadData} */
const data = workerData;
// Discards what the package prints when it fails: unread output would accumulate.
console.error = () => undefined;
console.log = () => undefined;

/** @param {JqAnswer | 'ready'} answer */
function tell(answer) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(answer);
}

parentPort?.on('message', (/** @type {JqJob} */ job) => {
  void new JqInstance(job, data).run().then(tell);
});
tell('ready');
