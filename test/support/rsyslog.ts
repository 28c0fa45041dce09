import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Rsyslog {
  /** Everything it printed. */
  output(): string;
  stop(): Promise<void>;
}

/**
 * Starts a real rsyslog in the foreground, with its own folder, that forwards the lines of a file.
 * @param lines contents of the file at the start; each is sent as one message of `shop`
 * @param actions configuration actions; `FOLDER` is replaced by a folder it may write to
 * @param files files to write to that folder, by name
 */
export async function startRsyslog(
  lines: readonly string[],
  actions: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Rsyslog> {
  const folder = await mkdtemp(join(tmpdir(), 'rsyslog-'));
  for (const [name, text] of Object.entries({ ...files, 'input.log': `${lines.join('\n')}\n` }))
    await writeFile(join(folder, name), text);
  const config = join(folder, 'rsyslog.conf');
  await writeFile(
    config,
    `global(workDirectory="${folder}")
module(load="imfile" mode="polling" pollingInterval="1")
input(type="imfile" file="${folder}/input.log" tag="shop:" severity="notice" facility="local3")
${actions.replaceAll('FOLDER', folder)}
`,
  );
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin`;
  const child = spawn('rsyslogd', ['-n', '-f', config, '-i', join(folder, 'pid')], {
    env: { PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', () =>
      reject(
        new Error(
          'No rsyslog here. Install it: apt-get install rsyslog rsyslog-openssl rsyslog-gnutls (Debian, Ubuntu).',
        ),
      ),
    );
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await Promise.race([once(child, 'spawn'), failed]);
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  return {
    output: () => output,
    async stop() {
      process.off('exit', stop);
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        setTimeout(stop, 3_000).unref();
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
