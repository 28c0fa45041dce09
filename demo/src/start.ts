/** Entry point of `npm start`. */
import { startDemo } from './start-demo.js';

try {
  const demo = await startDemo(process.env);
  process.stdout.write(`
  Northwind Security, the demo   ${demo.hostUrl}
  The connector service          ${demo.serviceUrl}
  Its API                        ${demo.serviceUrl}/openapi.json
  Events are sent to             ${demo.serviceUrl}/ingest/<connection>
                                 see Details of a connection for the full command
  Data                           ${process.env['DATA_DIR'] || '.data'}

  Press Ctrl+C to stop both. Saved data is kept.

`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      demo.close().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
} catch (error) {
  // Print only the message: it says what to do, and a stack does not.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
