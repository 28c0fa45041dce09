import { ConnectorError, failureOf, type Output, type WriteResult } from '@connector-frame/engine/connector-api';

/**
 * Returns an output of another organization for a pipeline that may not see its settings. Messages of
 * errors and reasons of refused records can name hosts, tables and answers of the destination, so
 * only their codes get through.
 */
export function withoutDetails(output: Output): Output {
  const { batching, ordering, maxConcurrency, retry } = output;
  return {
    ...(batching && { batching }),
    ...(ordering && { ordering }),
    ...(maxConcurrency !== undefined && { maxConcurrency }),
    ...(retry && { retry }),
    ...(output.open && { open: (signal) => hiding(async () => output.open?.(signal)) }),
    write: (batch, signal) => hiding(async () => withoutReasons(await output.write(batch, signal))),
    ...(output.close && { close: () => hiding(async () => output.close?.()) }),
  };
}

/** Returns the error for a shared output that can't run: the team can't correct it. */
export const notRunning = (code: string): ConnectorError =>
  new ConnectorError(code, `The shared output can't run (${code}). Its owner must correct it.`, 'permanent');

async function hiding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, kind, afterMs } = failureOf(error);
    throw new ConnectorError(
      code,
      `The shared output failed (${code}). Its owner can test the connection.`,
      kind,
      afterMs,
    );
  }
}

function withoutReasons({ rejected, refused, retry, unsent }: WriteResult): WriteResult {
  return {
    ...(rejected && { rejected: rejected.map((each) => ({ ...each, reason: codeIn(each.reason, 'rejected') })) }),
    ...(refused && { refused: refused.map((each) => ({ ...each, reason: codeIn(each.reason, 'refused') })) }),
    ...(retry && { retry: { ...retry, reason: codeIn(retry.reason, 'failed') } }),
    ...(unsent && { unsent }),
  };
}

/** Reasons are codes, or sentences that may tell something about the settings. */
const codeIn = (reason: string, otherwise: string): string =>
  /^[a-z][a-z0-9_]{0,40}$/.test(reason) ? reason : otherwise;
