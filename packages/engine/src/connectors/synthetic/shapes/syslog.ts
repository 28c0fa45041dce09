import type { Shape } from '../template.js';

const lines = [
  {
    app: 'sshd',
    facility: 10,
    severity: 6,
    message: 'Accepted publickey for {person.login} from {ip} port {int:1024:65535} ssh2',
  },
  {
    app: 'sshd',
    facility: 10,
    severity: 4,
    message: 'Failed password for invalid user admin from {ip} port {int:1024:65535} ssh2',
  },
  {
    app: 'sudo',
    facility: 10,
    severity: 5,
    message:
      '{person.login} : TTY=pts/0 ; PWD=/home/{person.login} ; USER=root ; COMMAND=/usr/bin/systemctl restart nginx',
  },
  {
    app: 'kernel',
    facility: 0,
    severity: 6,
    message: 'IN=eth0 OUT= SRC={ip} DST={ip#2} PROTO=TCP SPT={int:1024:65535} DPT=22',
  },
  { app: 'systemd', facility: 3, severity: 6, message: 'Started example.service - An example.' },
];

export const syslog: Shape = {
  documentation: 'https://www.rfc-editor.org/rfc/rfc5424#section-6',
  choices: { line: lines },
  record: {
    facility: '{line.facility}',
    severity: '{line.severity}',
    timestamp: '{time.iso}',
    hostname: '{host}.example.com',
    app_name: '{line.app}',
    proc_id: '{int:200:30000}',
    message: '{line.message}',
  },
};
