import type { Answer } from './service.js';

type Send = (method: string, path: string, body?: object) => Promise<Answer>;

/**
 * Creates one of each resource of billing, and returns their ids as the parameters of paths need them.
 * The account is subscribed to a different product than the returned one.
 * @param send sends a request with a key of the parent
 */
export async function createBilling(send: Send, team: string): Promise<Record<string, string>> {
  const must = async (method: string, path: string, body?: object): Promise<Answer['body']> => {
    const { status, text, body: made } = await send(method, path, body);
    if (status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
    return made;
  };
  const product = async (): Promise<string> =>
    (await must('POST', '/v2/billing/products', { slug: `p-${crypto.randomUUID()}`, name: 'P' })).id;
  const products = await product();
  const accounts = (await must('POST', '/v2/billing/accounts', { name: 'A', billing_email: 'a@a.example' })).id;
  const account = `/v2/billing/accounts/${accounts}`;
  await must('POST', `${account}/subscription`, { product_id: await product() });
  const roles = (await must('POST', `${account}/roles`, { name: 'R', permissions: ['quota:read'] })).id;
  await must('POST', `${account}/roles/${roles}/users`, { user_email: 'u@a.example' });
  const { users } = await must('GET', `${account}/roles/${roles}`);
  const quota = { name: 'Q', limit_type: 'egress_bytes', limit_amount: 1e9, timeframe: 'day', action: 'NONE' };
  const quotas = (await must('POST', '/v2/quotas', { organization_id: team, ...quota })).id;
  return { accounts, billing_roles: roles, billing_users: users[0].id, products, quotas };
}
