import { ConnectorFrameError } from '@connector-frame/core/connect';

/**
 * Calls a function that sends requests. If it fails after the page's CSP blocked one of them, the
 * error names the directive and the value that the policy lacks.
 *
 * @param url only consider requests to the origin of this URL; default: all
 * @throws {ConnectorFrameError} `request_blocked`, or what `run` throws
 */
export async function explainBlocked<Value>(run: () => Promise<Value>, url?: string): Promise<Value> {
  const expected = url === undefined ? undefined : originOf(url);
  let blocked: string | undefined;
  const note = ({ disposition, effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void => {
    if (disposition !== 'enforce' || effectiveDirective !== 'connect-src') return;
    const origin = originOf(blockedURI);
    if (expected === undefined || origin === expected) blocked = origin;
  };
  addEventListener('securitypolicyviolation', note);
  try {
    return await run();
  } catch (error) {
    // The violation is reported in a later task than the failure.
    await new Promise((resolve) => setTimeout(resolve));
    if (blocked === undefined) throw error;
    const source = blocked === location.origin ? "'self'" : blocked;
    throw new ConnectorFrameError('request_blocked', `CSP lacks connect-src ${source}`);
  } finally {
    removeEventListener('securitypolicyviolation', note);
  }
}

/** Returns the origin of a URL. Returns other values, such as `inline`, unchanged. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
