import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

// Debian installs some servers where only root's PATH leads.
const found = (...names) =>
  names.every((name) => onPath(name) ?? (name.startsWith('/') ? undefined : onPath(`/usr/sbin/${name}`)));

/** Ensures that the tests can start a Redis server, and use its own client. */
export const ensureRedis = () =>
  ensureProgram({
    name: 'Redis',
    find: () => found('redis-server', 'redis-cli'),
    packages: ['redis-server', 'redis-tools'],
    purpose: 'the tests with a Redis server',
    advice: 'macOS: brew install redis',
  });

/** Ensures that the tests can start an MQTT broker, and use its own clients. */
export const ensureMosquitto = () =>
  ensureProgram({
    name: 'Mosquitto',
    find: () => found('mosquitto', 'mosquitto_pub', 'mosquitto_sub'),
    packages: ['mosquitto', 'mosquitto-clients'],
    purpose: 'the tests with an MQTT broker',
    advice: 'macOS: brew install mosquitto',
  });

/** Ensures that the tests can start a NATS server. */
export const ensureNats = () =>
  ensureProgram({
    name: 'NATS',
    find: () => found('nats-server'),
    packages: ['nats-server'],
    purpose: 'the tests with a NATS server',
    advice: 'macOS: brew install nats-server',
  });

/** Ensures that the long run can start a RabbitMQ server. */
export const ensureRabbit = () =>
  ensureProgram({
    name: 'RabbitMQ',
    find: () => found('/usr/lib/rabbitmq/bin/rabbitmq-server', 'amqp-publish', 'amqp-get'),
    packages: ['rabbitmq-server', 'amqp-tools'],
    purpose: 'the tests with a RabbitMQ server',
  });

/** Ensures that the tests can start a Prometheus server. */
export const ensurePrometheus = () =>
  ensureProgram({
    name: 'Prometheus',
    find: () => found('prometheus'),
    packages: ['prometheus'],
    purpose: 'the tests with a Prometheus server',
    advice: 'macOS: brew install prometheus',
  });

/** Ensures that the tests can start an InfluxDB of version 1. */
export const ensureInflux = () =>
  ensureProgram({
    name: 'InfluxDB',
    find: () => found('influxd'),
    packages: ['influxdb'],
    purpose: 'the tests with an InfluxDB server',
  });

/** Ensures that the tests can start an SSH server. */
export const ensureSshd = () =>
  ensureProgram({
    name: 'OpenSSH',
    find: () => found('/usr/sbin/sshd', '/usr/lib/openssh/sftp-server'),
    packages: ['openssh-server', 'openssh-sftp-server'],
    purpose: 'the tests with an SFTP server',
  });

/** Ensures that the tests can start an IMAP server. */
export const ensureDovecot = () =>
  ensureProgram({
    name: 'Dovecot',
    find: () => found('dovecot', '/usr/lib/dovecot/imap'),
    packages: ['dovecot-core', 'dovecot-imapd'],
    purpose: 'the tests with an IMAP server',
  });
