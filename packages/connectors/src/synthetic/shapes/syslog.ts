import type { Shape } from '../template.js';

const line = (app: string, facility: [number, string], severity: [number, string], message: string) => ({
  app,
  priority: facility[0] * 8 + severity[0],
  facility: { code: facility[0], name: facility[1] },
  severity: { code: severity[0], name: severity[1] },
  message,
});
const AUTH: [number, string] = [10, 'authpriv'];
const INFO: [number, string] = [6, 'info'];

/** Messages with the fields that `monad-syslog` parses. */
export const syslog: Shape = {
  documentation: 'https://www.rfc-editor.org/rfc/rfc5424#section-6',
  choices: {
    line: [
      line('sshd', AUTH, INFO, 'Accepted publickey for {person.login} from {ip} port {int:1024:65535} ssh2'),
      line('sshd', AUTH, [4, 'warning'], 'Failed password for invalid user admin from {ip} port {int:1024:65535} ssh2'),
      line(
        'sudo',
        AUTH,
        [5, 'notice'],
        '{person.login} : TTY=pts/0 ; USER=root ; COMMAND=/usr/bin/systemctl restart nginx',
      ),
      line('kernel', [0, 'kern'], INFO, 'IN=eth0 OUT= SRC={ip} DST={ip#2} PROTO=TCP SPT={int:1024:65535} DPT=22'),
      line('systemd', [3, 'daemon'], INFO, 'Started example.service - An example.'),
    ],
  },
  record: {
    priority: '{line.priority}',
    facility: '{line.facility.code}',
    facility_name: '{line.facility.name}',
    severity: '{line.severity.code}',
    severity_name: '{line.severity.name}',
    timestamp: '{time.iso}',
    hostname: '{host}.example.com',
    app_name: '{line.app}',
    proc_id: '{digits:4}',
    message: '{line.message}',
    transport: 'tcp',
    peer: '{ip#3}',
    received_at: '{time.iso}',
  },
};
