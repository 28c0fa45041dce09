import { randomBytes } from 'node:crypto';
import type { SAML } from '@node-saml/node-saml';
import type { DOMParser } from '@xmldom/xmldom';
import type { SsoConnection } from '../store/sso-connections.js';
import { SignInProblem } from './sign-in-problem.js';

/** Maximum difference between the clocks of the provider and the service, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;
/** Maximum age of an assertion, in milliseconds, whatever it says itself. */
const MAX_AGE_MS = 600_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
/** Attributes that contain the address, in order of preference. */
const EMAIL_ATTRIBUTES = [
  'email',
  'mail',
  'emailAddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];
const NAME_ATTRIBUTES = [
  'displayName',
  'name',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'http://schemas.microsoft.com/identity/claims/displayname',
];

/** What a signed assertion says about who signed in. */
export interface SamlIdentity {
  /** To accept the assertion once. */
  assertionId: string;
  /** When the assertion can be forgotten. */
  expiresAt: Date;
  /** The request that it responds to. */
  requestId: string;
  nameId: string;
  email: unknown;
  name: string | undefined;
  /** When the provider ends the session, if it says so. */
  sessionEndsAt: Date | undefined;
}

/** Signs users in with SAML 2.0: requests by HTTP-Redirect, responses by HTTP-POST. */
export interface Saml {
  /** Returns the address of the provider with a new request. */
  begin(connection: SsoConnection): Promise<{ url: string; requestId: string }>;
  /**
   * Verifies a response.
   * @param response the field `SAMLResponse`
   * @throws SignInProblem
   */
  verify(connection: SsoConnection, response: string): Promise<SamlIdentity>;
  /** Returns the metadata of the service for a connection, which its administrators need. */
  metadata(connectionId: string): Promise<string>;
}

/** @param publicUrl base URL of the service */
export function createSaml(publicUrl: string): Saml {
  const entityId = (id: string): string => `${publicUrl}/login/saml/${id}`;
  const acsUrl = (id: string): string => `${entityId(id)}/acs`;

  async function samlOf({ id, idp }: Pick<SsoConnection, 'id' | 'idp'>, requestId: string): Promise<SAML> {
    const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml');
    return new SAML({
      issuer: entityId(id),
      callbackUrl: acsUrl(id),
      // An audience of its own per connection, so that an assertion for one is worthless for another.
      audience: entityId(id),
      entryPoint: idp.signOnUrl,
      idpCert: [...idp.certificates],
      // Providers sign the response or the assertion; one valid signature is required in any case.
      wantAuthnResponseSigned: false,
      wantAssertionsSigned: false,
      acceptedClockSkewMs: CLOCK_SKEW_MS,
      maxAssertionAgeMs: MAX_AGE_MS,
      identifierFormat: null,
      disableRequestedAuthnContext: true,
      generateUniqueId: () => requestId,
      // Makes the library check the confirmation of the subject. That the response belongs to a request
      // of this browser is compared with the flow's cookie instead of a cache of the process.
      validateInResponseTo: ValidateInResponseTo.always,
      cacheProvider: {
        saveAsync: (_key, value) => Promise.resolve({ value, createdAt: Date.now() }),
        getAsync: () => Promise.resolve(new Date().toISOString()),
        removeAsync: (key) => Promise.resolve(key),
      },
    });
  }

  return {
    async begin(connection) {
      const requestId = `_${randomBytes(20).toString('hex')}`;
      const saml = await samlOf(connection, requestId);
      return { url: await saml.getAuthorizeUrlAsync('', undefined, {}), requestId };
    },

    async verify(connection, response) {
      const { SamlStatusError } = await import('@node-saml/node-saml');
      const { DOMParser } = await import('@xmldom/xmldom');
      try {
        requireSha2(response, new DOMParser({ onError: () => undefined }));
        const saml = await samlOf(connection, '');
        const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: response });
        const assertion = asElement(profile?.getAssertion?.()['Assertion']);
        if (!profile || !assertion) throw new Error('no assertion');
        return read(connection, acsUrl(connection.id), profile.nameID, assertion);
      } catch (cause) {
        throw new SignInProblem(cause instanceof SamlStatusError ? 'denied' : 'response', { cause });
      }
    },

    async metadata(id) {
      const saml = await samlOf({ id, idp: { signOnUrl: '', certificates: ['AA=='] } }, `_${id}`);
      return saml.generateServiceProviderMetadata(null);
    },
  };
}

/** An element as the library parses it: attributes in `$`, text in `_`, and arrays of children. */
interface XmlElement {
  $?: Record<string, string>;
  _?: string;
  [child: string]: unknown;
}

const asElement = (value: unknown): XmlElement | undefined =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only shape that xml2js creates
  typeof value === 'object' && value !== null ? (value as XmlElement) : undefined;

function children(element: XmlElement | undefined, name: string): XmlElement[] {
  const found = element?.[name];
  if (!Array.isArray(found)) return [];
  return found.map((each: unknown) => (typeof each === 'string' ? { _: each } : (asElement(each) ?? {})));
}

/**
 * Reads the signed assertion, and checks what the library does not: the issuer, the recipient, and that
 * the signed part names the request and an end.
 */
function read(
  { entityId }: SsoConnection,
  acsUrl: string,
  nameId: string | undefined,
  assertion: XmlElement,
): SamlIdentity {
  const assertionId = assertion.$?.['ID'] ?? '';
  const [issuer] = children(assertion, 'Issuer');
  if (issuer?._?.trim() !== entityId) throw new Error('another issuer');
  const [subject] = children(assertion, 'Subject');
  const [name] = children(subject, 'NameID');
  const confirmed = children(subject, 'SubjectConfirmation')
    .filter((each) => each.$?.['Method'] === BEARER)
    .map((each) => children(each, 'SubjectConfirmationData')[0]?.$)
    .find((data) => data?.['Recipient'] === acsUrl);
  const { InResponseTo: requestId = '', NotOnOrAfter: end = '' } = confirmed ?? {};
  if (requestId === '') throw new Error('no confirmation for this request and recipient');
  const expiresAt = Date.parse(end);
  if (!(expiresAt > Date.now() - CLOCK_SKEW_MS)) throw new Error('no confirmation that is valid now');
  if (assertionId === '' || nameId === undefined || nameId === '') throw new Error('no ID or no subject');
  if (name?.$?.['Format'] === TRANSIENT) throw new Error('the subject has another name each time');
  const attributes = attributesIn(assertion);
  const isAddress = (name?.$?.['Format'] ?? '').endsWith(':emailAddress');
  const [session] = children(assertion, 'AuthnStatement');
  const sessionEnd = Date.parse(session?.$?.['SessionNotOnOrAfter'] ?? '');
  return {
    assertionId,
    expiresAt: new Date(Math.min(expiresAt, Date.now() + MAX_AGE_MS) + CLOCK_SKEW_MS),
    requestId,
    nameId,
    email: valueOf(attributes, EMAIL_ATTRIBUTES) ?? (isAddress ? nameId : undefined),
    name: valueOf(attributes, NAME_ATTRIBUTES),
    sessionEndsAt: Number.isNaN(sessionEnd) ? undefined : new Date(sessionEnd),
  };
}

function attributesIn(assertion: XmlElement): Map<string, string> {
  const found = children(assertion, 'AttributeStatement').flatMap((statement) => children(statement, 'Attribute'));
  return new Map(
    found.map((attribute) => [attribute.$?.['Name'] ?? '', children(attribute, 'AttributeValue')[0]?._?.trim() ?? '']),
  );
}

function valueOf(attributes: ReadonlyMap<string, string>, names: readonly string[]): string | undefined {
  const name = names.find((each) => (attributes.get(each) ?? '') !== '');
  return name === undefined ? undefined : attributes.get(name);
}

/** Rejects signatures and digests with SHA-1, which the library accepts. */
function requireSha2(response: string, parser: DOMParser): void {
  const xml = Buffer.from(response, 'base64').toString();
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw new Error('a document type');
  const document = parser.parseFromString(xml, 'text/xml');
  for (const name of ['SignatureMethod', 'DigestMethod']) {
    for (const method of Array.from(document.getElementsByTagNameNS('*', name))) {
      if (/sha1$/i.test(method.getAttribute('Algorithm') ?? '')) throw new Error('a signature with SHA-1');
    }
  }
}
