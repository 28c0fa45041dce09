/** The part of `lumberjack-client` that tests use; the package has no types. */
declare module 'lumberjack-client' {
  import type { Socket } from 'node:net';

  export default class LumberjackClient {
    constructor(config: { host: string; port: number });
    socket?: Socket;
    log(event: Readonly<Record<string, unknown>>): void;
  }
}
