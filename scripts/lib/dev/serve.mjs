/** Runs the built service and demo for `npm run dev`, with pages that reload after a restart. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cache, root } from '../root.mjs';

const { startDemo } = await import(`${root}demo/dist/start-demo.js`);

/** Loaded by every page of the demo: waits until another process answers, and reloads the page. */
const reload = `
const read = async () => (await fetch('/dev-version.js', { cache: 'no-store' })).text();
const running = await read();
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 300));
  // While the process restarts, requests fail.
  const now = await read().catch(() => running);
  if (now !== running && now.startsWith('// ')) location.reload();
}
`;

const pages = `${cache}/dev-pages-${process.ppid}`;

function writePages() {
  rmSync(pages, { recursive: true, force: true });
  cpSync(`${root}demo/dist/public`, pages, { recursive: true });
  writeFileSync(`${pages}/dev-reload.js`, reload);
  writeFileSync(`${pages}/dev-version.js`, `// ${process.pid}`);
  for (const name of readdirSync(pages, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.html')) continue;
    const page = readFileSync(`${pages}/${name}`, 'utf8');
    writeFileSync(
      `${pages}/${name}`,
      page.replace('</head>', '<script type="module" src="/dev-reload.js"></script></head>'),
    );
  }
}

try {
  writePages();
  const demo = await startDemo(process.env, pages);
  // Pages are in memory from here on.
  rmSync(pages, { recursive: true });
  const close = () => void demo.close().then(() => process.exit(0));
  process.once('SIGTERM', close);
  // `npm run dev` was killed.
  process.once('disconnect', close);
  // Ctrl+C reaches this process too; the parent stops it.
  process.on('SIGINT', () => undefined);
  process.send?.({ hostUrl: demo.hostUrl, serviceUrl: demo.serviceUrl });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
