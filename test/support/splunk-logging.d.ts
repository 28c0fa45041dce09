/** The part of `splunk-logging` that tests use; the package has no types. */
declare module 'splunk-logging' {
  export class Logger {
    constructor(config: { token: string; url: string; path?: string; maxRetries?: number });
    error: (error: Error) => void;
    send(
      context: { message: unknown; metadata?: Readonly<Record<string, string>> },
      callback: (error: unknown, response: unknown, body: unknown) => void,
    ): void;
  }
}
