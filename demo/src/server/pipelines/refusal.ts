/** What a page is told when it can't have what it asked for: our own words, in the shape of the host's routes. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function refusalResponse({ status, code, message }: Refusal): Response {
  return answer({ code, message }, status);
}

/** JSON for this page's own scripts, never kept. */
export function answer(body: unknown, status = 200): Response {
  return Response.json(body, {
    status,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  });
}
