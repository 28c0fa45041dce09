/** Runs a worker in a separate process. */
import { createWorker } from '@connector-frame/service';

const worker = await createWorker({ ...process.env, SERVICE_PORT: '0', LOG_LEVEL: 'error' });
process.send({ url: worker.url });
process.on('disconnect', () => void worker.close().then(() => process.exit(0)));
