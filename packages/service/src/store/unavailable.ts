/**
 * SQLSTATE classes and codes of a server that can't serve any request at the moment
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html): connection exceptions (08),
 * rejected credentials (28), insufficient resources (53), operator intervention, which includes
 * shutdown, startup and a statement timeout (57), system errors (58), a missing database, a standby
 * after a failover, and a transaction that was idle for too long.
 */
const SQL_STATES = /^(?:08...|28...|53...|57...|58...|3D000|25006|25P03)$/;
/** Errors of the operating system on a connection. `ENOENT`: a Unix socket that does not exist. */
const SYSTEM_ERRORS =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES)$/;
/** Errors of the clients that have no code. */
const MESSAGES =
  /^(?:Connection terminated|Connection ended|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end|PGlite is clos)/;

/**
 * Returns whether an error, or one of its causes, means that the database can't be reached or can't
 * serve requests at the moment. The same request may succeed later.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
    if (code !== undefined && SQL_STATES.test(code)) return true;
    // Without the system call, `ENOENT` could also be that of a file.
    if (code !== undefined && SYSTEM_ERRORS.test(code) && isOfConnection(cause)) return true;
    if (MESSAGES.test(cause.message)) return true;
  }
  return false;
}

/** An `AggregateError` of several addresses has no system call. */
const isOfConnection = (error: Error): boolean =>
  error instanceof AggregateError ||
  ('syscall' in error && /^(?:connect|read|write|getaddrinfo)$/.test(String(error.syscall)));
