import { randomBytes } from 'node:crypto';
import { IdentityProvider, SamlLib, ServiceProvider, setSchemaValidator } from 'samlify';
import { createRsaCertificate } from '../certificate.js';

export interface ResponseOptions {
  nameId?: string;
  nameIdFormat?: string;
  email?: string;
  /** Milliseconds from now. Default: 5 minutes ago, and 5 minutes ahead. */
  notBefore?: number;
  notOnOrAfter?: number;
  /** Replaces the ID of the request that it responds to. */
  inResponseTo?: string;
  audience?: string;
  recipient?: string;
  issuer?: string;
  sessionEnd?: number;
  /** Changes the document after it was signed. */
  tamper?: (xml: string) => string;
}

export interface SamlIdp {
  entityId: string;
  metadata: string;
  /** Base64 of DER. */
  certificate: string;
  /**
   * Reads the request in an address as the provider does, and creates the signed response that a browser
   * posts, in base64.
   * @param serviceMetadata of the service, as it publishes it
   */
  respond(url: string, serviceMetadata: string, options?: ResponseOptions): Promise<string>;
}

const PREFIX = 'urn:oasis:names:tc:SAML:';

/**
 * Creates an identity provider with `samlify`. It signs assertions with an RSA key of its own.
 * @param signOnUrl where it says that browsers sign in
 */
export function createSamlIdp(entityId: string, signOnUrl: string, { usesSha1 = false } = {}): SamlIdp {
  // The library wants a validator of XML schemas. What it sends is checked by the service under test.
  setSchemaValidator({ validate: () => Promise.resolve('valid') });
  const { key, cert } = createRsaCertificate('idp.test');
  const idp = IdentityProvider({
    entityID: entityId,
    privateKey: key,
    signingCert: cert,
    requestSignatureAlgorithm: usesSha1
      ? 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'
      : 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    // Without an address for this, the library writes a warning.
    singleLogoutService: [{ Binding: `${PREFIX}2.0:bindings:HTTP-Redirect`, Location: signOnUrl }],
    singleSignOnService: [{ Binding: `${PREFIX}2.0:bindings:HTTP-Redirect`, Location: signOnUrl }],
    nameIDFormat: [`${PREFIX}2.0:nameid-format:persistent`],
    loginResponseTemplate: {
      context: SamlLib.defaultLoginResponseTemplate.context,
      attributes: [
        {
          name: 'email',
          valueTag: 'email',
          nameFormat: `${PREFIX}2.0:attrname-format:basic`,
          valueXsiType: 'xs:string',
        },
      ],
    },
  });

  return {
    entityId,
    metadata: idp.getMetadata(),
    certificate: cert.replaceAll(/-----[A-Z ]+-----|\s/g, ''),

    async respond(url, serviceMetadata, options = {}) {
      const service = ServiceProvider({ metadata: serviceMetadata });
      const query = Object.fromEntries(new URL(url).searchParams);
      const { extract } = await idp.parseLoginRequest(service, 'redirect', { query });
      const acsUrl = String(service.entityMeta.getAssertionConsumerService('post'));
      const { request } = extract as { request: { id: string } };
      const at = (offset: number): string => new Date(Date.now() + offset).toISOString();
      const end = options.sessionEnd === undefined ? '' : ` SessionNotOnOrAfter="${at(options.sessionEnd)}"`;
      const classRef = `<saml:AuthnContextClassRef>${PREFIX}2.0:ac:classes:Password</saml:AuthnContextClassRef>`;
      const values: Record<string, string> = {
        ID: `_${randomBytes(8).toString('hex')}`,
        AssertionID: `_${randomBytes(8).toString('hex')}`,
        Destination: acsUrl,
        Audience: options.audience ?? service.entityMeta.getEntityID(),
        SubjectRecipient: options.recipient ?? acsUrl,
        Issuer: options.issuer ?? entityId,
        IssueInstant: at(Math.min(0, options.notOnOrAfter ?? 0)),
        StatusCode: `${PREFIX}2.0:status:Success`,
        ConditionsNotBefore: at(options.notBefore ?? -300_000),
        ConditionsNotOnOrAfter: at(options.notOnOrAfter ?? 300_000),
        SubjectConfirmationDataNotOnOrAfter: at(options.notOnOrAfter ?? 300_000),
        NameIDFormat: `${PREFIX}${options.nameIdFormat ?? '2.0:nameid-format:persistent'}`,
        NameID: options.nameId ?? 'ana-1',
        InResponseTo: options.inResponseTo ?? request.id,
        AuthnStatement: `<saml:AuthnStatement AuthnInstant="${at(0)}"${end}><saml:AuthnContext>${classRef}</saml:AuthnContext></saml:AuthnStatement>`,
        attrEmail: options.email ?? 'ana@acme.example',
      };
      const customTagReplacement = (text: string) => ({
        id: values['ID'] ?? '',
        context: text.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all),
      });
      const { context } = await idp.createLoginResponse(
        service,
        { extract: { request: { id: request.id } } },
        'post',
        { email: options.email ?? '' },
        { customTagReplacement },
      );
      const xml = Buffer.from(context, 'base64').toString();
      const sent = options.tamper?.(xml) ?? xml;
      if (options.tamper && sent === xml) throw new Error('The test changes nothing.');
      return Buffer.from(sent).toString('base64');
    },
  };
}
