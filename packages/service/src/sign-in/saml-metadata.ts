import { X509Certificate } from 'node:crypto';
import { EgressError, type Egress } from '@connector-frame/engine/egress';
import type { Element } from '@xmldom/xmldom';
import { invalidRequest } from '../api-error.js';
import type { SamlIdp } from '../store/tables.js';

/** Maximum size of the metadata in bytes; federations publish theirs for many providers at once. */
const MAX_BYTES = 1_048_576;
const MAX_CERTIFICATES = 10;

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

/**
 * Fetches the metadata of an identity provider through the egress guard, because customers choose the
 * address.
 * @param now milliseconds since the epoch
 * @throws ApiError 400 that says what is wrong
 */
export async function fetchMetadata(egress: Egress, url: string, entityId: string, now: number): Promise<SamlIdp> {
  let text: string;
  try {
    const response = await egress.fetch(url, {
      headers: { accept: 'application/samlmetadata+xml' },
      maxBytes: MAX_BYTES,
    });
    if (!response.ok) throw refused(`its server responds with status ${response.status}`);
    text = await response.text();
  } catch (error) {
    if (error instanceof EgressError) throw refused(reasons[error.reason] ?? 'its server does not respond');
    throw error;
  }
  return readMetadata(text, entityId, now);
}

const reasons: Partial<Record<EgressError['reason'], string>> = {
  egress_refused: 'its address is private, and the operator has not opened it (EGRESS_ALLOW)',
  dns_failed: 'its host has no address',
  tls_failed: 'the certificate of its server is not trusted',
  redirected: 'its server redirects to another address',
  too_large: 'it is larger than 1 MiB',
  invalid_address: 'its address is not valid',
};

/**
 * Reads the sign-on address and the certificates from the metadata of an identity provider.
 * @throws ApiError 400 that says what is wrong
 */
export async function readMetadata(xml: string, entityId: string, now: number): Promise<SamlIdp> {
  const document = await parse(xml);
  const entities = elements(document, METADATA, 'EntityDescriptor');
  const entity = entities.find((each) => each.getAttribute('entityID') === entityId);
  if (!entity) {
    const names = entities.slice(0, 3).map((each) => `"${each.getAttribute('entityID') ?? ''}"`);
    throw refused(`it does not describe the entity_id, but ${names.join(', ') || 'nothing'}`);
  }
  for (const each of [document, entity]) {
    const until = each.getAttribute('validUntil');
    if (until !== null && until !== '' && !(Date.parse(until) > now)) throw refused('it has expired (validUntil)');
  }
  const [role] = elements(entity, METADATA, 'IDPSSODescriptor');
  if (!role) throw refused('it does not describe an identity provider (IDPSSODescriptor)');
  const signOn = elements(role, METADATA, 'SingleSignOnService').find(
    (each) => each.getAttribute('Binding') === REDIRECT,
  );
  const signOnUrl = signOn?.getAttribute('Location') ?? '';
  if (!isHttps(signOnUrl)) throw refused('it has no SingleSignOnService with HTTP-Redirect and an https address');
  const certificates = elements(role, METADATA, 'KeyDescriptor')
    .filter((key) => (key.getAttribute('use') ?? 'signing') !== 'encryption')
    .flatMap((key) => elements(key, SIGNATURE, 'X509Certificate'))
    .map((certificate) => (certificate.textContent ?? '').replaceAll(/\s/g, ''))
    .slice(0, MAX_CERTIFICATES);
  if (certificates.length === 0 || !certificates.every(isCertificate)) {
    throw refused('it has no certificate that signs (KeyDescriptor)');
  }
  return { signOnUrl, certificates: [...new Set(certificates)] };
}

async function parse(xml: string): Promise<Element> {
  // Entities are not needed here, and are a way to read files or use up memory.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw refused('it contains a document type');
  const { DOMParser } = await import('@xmldom/xmldom');
  try {
    const root = new DOMParser({ onError: stop }).parseFromString(xml, 'text/xml').documentElement;
    if (root) return root;
  } catch {
    // Falls through to the same message.
  }
  throw refused('it is not XML');
}

const stop = (level: string, message: string): void => {
  if (level !== 'warning') throw new Error(message);
};

/** Returns an element itself and its descendants with this name. */
function elements(root: Element, namespace: string, name: string): Element[] {
  const own = root.namespaceURI === namespace && root.localName === name ? [root] : [];
  return [...own, ...Array.from(root.getElementsByTagNameNS(namespace, name))];
}

/** Returns whether a text is the address of a page that a browser can be sent to. */
export const isHttps = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
};

function isCertificate(base64: string): boolean {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).publicKey.asymmetricKeyType !== undefined;
  } catch {
    return false;
  }
}

const refused = (reason: string) =>
  invalidRequest(`The metadata of the identity provider cannot be used: ${reason}.`, {
    issues: [{ path: '/saml/metadata_url', message: reason }],
  });
