import { existsSync, readdirSync } from 'node:fs';
import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

const packages = ['rsyslog', 'rsyslog-openssl', 'rsyslog-gnutls'];

/** Ensures that the tests can start rsyslog with TLS: uses the installed one, or installs it. */
export const ensureRsyslog = () =>
  ensureProgram({
    name: 'rsyslog',
    find,
    packages,
    purpose: 'the tests with rsyslog as the sender',
  });

function find() {
  if (!onPath('rsyslogd') && !onPath('/usr/sbin/rsyslogd')) return false;
  const folders = ['/usr/lib', ...folderNames('/usr/lib'), '/usr/local/lib'].map((folder) => `${folder}/rsyslog`);
  const drivers = ['lmnsd_ossl.so', 'lmnsd_gtls.so'];
  return drivers.every((driver) => folders.some((folder) => existsSync(`${folder}/${driver}`)));
}

function folderNames(path) {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);
}
