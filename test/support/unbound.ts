import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HOST = '127.0.0.1';

/**
 * Starts a real Unbound that answers for `www.acme.example` and sends dnstap messages about its
 * clients.
 * @param port UDP and TCP port for queries
 * @param dnstapPort TCP port that dnstap messages are sent to
 */
export async function startUnbound(port: number, dnstapPort: number): Promise<{ stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'unbound-'));
  const config = join(folder, 'unbound.conf');
  await writeFile(
    config,
    `server:
  interface: ${HOST}@${port}
  port: ${port}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  module-config: "iterator"
  local-zone: "acme.example." static
  local-data: "www.acme.example. 300 IN A 192.0.2.7"
remote-control:
  control-enable: no
dnstap:
  dnstap-enable: yes
  dnstap-bidirectional: yes
  dnstap-ip: "${HOST}@${dnstapPort}"
  dnstap-tls: no
  dnstap-send-identity: yes
  dnstap-identity: "ns1.acme.example"
  dnstap-log-client-query-messages: yes
  dnstap-log-client-response-messages: yes
`,
  );
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };
  const child = spawn('unbound', ['-d', '-c', config], { env, stdio: 'ignore' });
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  await once(child, 'spawn');
  return {
    async stop() {
      process.off('exit', stop);
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        stop();
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
