/** Exits with 0 if the service in this container responds, otherwise with 1. The path can be given: `/readyz`. */
const [path = '/livez'] = process.argv.slice(2);
const port = process.env.SERVICE_PORT || '4000';
const isAlive = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(4_000) }).then(
  (response) => response.ok,
  () => false,
);
process.exit(isAlive ? 0 : 1);
