/** The bus in NATS JetStream. Separate, because its client is only loaded where it is used. */
export { createJetStreamBus, type JetStreamBus, type JetStreamBusOptions } from './jetstream-bus.js';
export { JetStreamSetupError } from './setup-error.js';
