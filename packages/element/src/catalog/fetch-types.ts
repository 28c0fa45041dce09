import { ConnectorFrameError, type CatalogType } from '@connector-frame/core/connect';
import { addressOf, askHost } from '../host-routes.js';

const TEXTS = ['type_id', 'name', 'description', 'category'];

/** The types that the host offers, from its catalog route. Rejects with a `ConnectorFrameError`, code `load_failed`. */
export async function fetchTypes(hostUrl: string, kind: string): Promise<CatalogType[]> {
  const address = addressOf(hostUrl, `catalog?${new URLSearchParams({ kind })}`);
  const { answer, where } = await askHost('load_failed', 'GET', address);
  if (Array.isArray(answer) && answer.every(isType)) return answer;
  throw new ConnectorFrameError('load_failed', `The server of this page gave no list of connector types ${where}`);
}

/** Whether it has what is shown and searched. */
export function isType(value: unknown): value is CatalogType {
  const given: Partial<Record<string, unknown>> = Object(value);
  return TEXTS.every((name) => typeof given[name] === 'string');
}
