import { qrCodeOf } from '../second-factor.js';
import { PASSWORD_LENGTH } from '../passwords.js';
import { html, type Page } from './html.js';
import { field, form, note } from './parts.js';

/** Paths of the pages, each with a leading slash. */
export const paths = {
  start: '/login',
  connection: '/login/connection',
  password: '/login/password',
  code: '/login/code',
  forgot: '/login/forgot',
  link: '/login/link',
  invitation: '/login/invitation',
  setup: '/login/setup',
  newPassword: '/login/new-password',
  verify: '/login/verify',
  samlContinue: '/login/continue',
} as const;

/** What all pages of a sign-in need. */
export interface Here {
  /** Path of the service's URL, without a slash at the end. */
  base: string;
  csrf: string;
  /** What is wrong, as a sentence. */
  problem?: string | undefined;
}

/** Asks for the address, which decides where the user signs in. */
export const startPage = (
  { base, csrf, problem }: Here,
  { email, withPassword }: { email?: string | undefined; withPassword: boolean },
): Page => ({
  title: 'Sign in',
  body: form(
    base + paths.start,
    csrf,
    html`${field({
        name: 'email',
        label: 'E-mail address',
        type: 'email',
        value: email,
        autocomplete: 'username',
        inputmode: 'email',
        error: problem,
        autofocus: true,
      })}
      <button>Continue</button>
      ${withPassword ? html`<button class="second" name="with" value="password">Use a password instead</button>` : ''}`,
  ),
});

/** Lets the user choose among the connections that have the domain of the address. */
export const connectionPage = (
  { base, csrf }: Here,
  { email, connections }: { email: string; connections: readonly { id: string; publicName: string }[] },
): Page => ({
  title: 'Choose where to sign in',
  body: html`<p class="muted">${email}</p>
    ${form(
      base + paths.connection,
      csrf,
      html`${connections.map(
        ({ id, publicName }) => html`<button class="second" name="connection" value="${id}">${publicName}</button>`,
      )}`,
    )}
    ${again(base)}`,
});

export const passwordPage = (
  { base, csrf, problem }: Here,
  { email, canReset }: { email: string; canReset: boolean },
): Page => ({
  title: 'Enter your password',
  body: html`${form(
    base + paths.password,
    csrf,
    html`<p class="muted">${email}</p>
      <input type="hidden" value="${email}" autocomplete="username" />
      ${field({
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'current-password',
        error: problem,
        autofocus: true,
      })}
      <button>Sign in</button>`,
  )}
  ${canReset ? html`<a class="alone" href="${base + paths.forgot}">Forgot your password?</a><br />` : ''} ${again(base)}`,
});

export const codePage = ({ base, csrf, problem }: Here): Page => ({
  title: 'Enter your code',
  body: html`<p>Open your authenticator app and enter the 6-digit code. A recovery code works, too.</p>
    ${form(
      base + paths.code,
      csrf,
      html`${field({
          name: 'code',
          label: 'Code',
          autocomplete: 'one-time-code',
          error: problem,
          autofocus: true,
          maxlength: 40,
        })} <button>Sign in</button>`,
    )}
    ${again(base)}`,
});

/** What an invitation says, and how it is accepted. */
export interface InvitationView {
  organization: string;
  email: string;
  role: string;
  /** `account`: with a new local account. `sign-in`: after a sign-in. */
  accept: 'account' | 'sign-in';
  username?: string | undefined;
  errors?: { username?: string | undefined; password?: string | undefined };
}

export const invitationPage = ({ base, csrf }: Here, view: InvitationView): Page => ({
  title: `Join ${view.organization}`,
  body: html`<p>${view.email} is invited with the role ${view.role}.</p>
    ${form(
      base + paths.invitation,
      csrf,
      view.accept === 'sign-in'
        ? html`<p>Sign in with this address to accept.</p>
            <button>Continue</button>`
        : html`<input type="hidden" value="${view.email}" autocomplete="username" />
            ${field({
              name: 'username',
              label: 'Your name',
              value: view.username,
              autocomplete: 'name',
              error: view.errors?.username,
              autofocus: true,
              maxlength: 200,
            })}
            ${newPasswordField(view.errors?.password)}
            <button>Continue</button>`,
    )}`,
});

const newPasswordField = (error: string | undefined) =>
  field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    help: `At least ${PASSWORD_LENGTH.min} characters.`,
    error,
    maxlength: PASSWORD_LENGTH.max,
  });

/** Shows the secret of the authenticator app, and asks for its first code. */
export const setupPage = (
  { base, csrf, problem }: Here,
  { secret, uri, skippable }: { secret: string; uri: string; skippable: boolean },
): Page => {
  const { size, path } = qrCodeOf(uri);
  const margin = 4;
  const box = `${-margin} ${-margin} ${size + 2 * margin} ${size + 2 * margin}`;
  const key = (secret.match(/.{1,4}/g) ?? []).join(' ');
  return {
    title: 'Set up your authenticator app',
    body: html`<ol>
        <li>Open an authenticator app on your phone, and scan this code.</li>
        <li>Enter the 6-digit code that the app shows.</li>
      </ol>
      <svg class="qr" role="img" aria-label="QR code for the authenticator app" viewBox="${box}">
        <path fill="currentColor" d="${path}" />
      </svg>
      <p class="help">Can't scan it? Enter this key: <code>${key}</code></p>
      ${form(
        base + paths.setup,
        csrf,
        html`${field({
            name: 'code',
            label: 'Code',
            autocomplete: 'one-time-code',
            inputmode: 'numeric',
            error: problem,
            autofocus: true,
            maxlength: 10,
          })} <button>Turn on</button>`,
      )}
      ${
        skippable
          ? form(base + paths.setup, csrf, html`<button class="second" name="skip" value="yes">Not now</button>`)
          : ''
      }`,
  };
};

/** Asks for the password before the second factor is changed. */
export const confirmPasswordPage = ({ base, csrf, problem }: Here, { email }: { email: string }): Page => ({
  title: 'Confirm your password',
  body: html`<p>Enter your password to set up an authenticator app.</p>
    ${form(
      base + paths.newPassword,
      csrf,
      html`<input type="hidden" value="${email}" autocomplete="username" />
        ${field({
          name: 'password',
          label: 'Password',
          type: 'password',
          autocomplete: 'current-password',
          error: problem,
          autofocus: true,
        })}
        <button>Continue</button>`,
    )}`,
});

export const newPasswordPage = ({ base, csrf, problem }: Here, { email }: { email: string }): Page => ({
  title: 'Choose a new password',
  body: form(
    base + paths.newPassword,
    csrf,
    html`<p class="muted">${email}</p>
      <input type="hidden" value="${email}" autocomplete="username" />
      ${newPasswordField(problem)}
      <button>Save</button>`,
  ),
});

export const forgotPage = ({ base, csrf, problem }: Here): Page => ({
  title: 'Reset your password',
  body: html`<p>You get a mail with a link.</p>
    ${form(
      base + paths.forgot,
      csrf,
      html`${field({
          name: 'email',
          label: 'E-mail address',
          type: 'email',
          autocomplete: 'username',
          inputmode: 'email',
          error: problem,
          autofocus: true,
        })} <button>Send the link</button>`,
    )}
    ${again(base)}`,
});

export const verifyPage = ({ base, csrf }: Here, { email }: { email: string }): Page => ({
  title: 'Confirm your e-mail address',
  body: form(
    base + paths.verify,
    csrf,
    html`<p>Is ${email} your e-mail address?</p>
      <button>Yes, it is mine</button>`,
  ),
});

/** A page without a form: what happened, and what to do. */
export const messagePage = (title: string, text: string, next?: { href: string; label: string }): Page => ({
  title,
  body: html`<p>${text}</p>
    ${next ? html`<a class="button" href="${next.href}">${next.label}</a>` : ''}`,
});

export const problemPage = (base: string, text: string): Page => ({
  title: 'Sign-in failed',
  body: html`${note(text)}<a class="button" href="${base + paths.start}">Start again</a>`,
});

/**
 * Sends the browser to another site. A redirect in response to a form would be blocked by `form-action`,
 * which must not name every site that an identity provider leads to.
 */
export const leavePage = (href: string): Page => ({
  title: 'One moment',
  head: html`<meta http-equiv="refresh" content="${`0; url=${href}`}" />`,
  body: html`<p>You are being redirected.</p>
    <a class="button" href="${href}">Continue</a>`,
});

/** The end of a sign-in without a console. */
export const signedInPage = ({
  name,
  token,
  minutes,
  recoveryCodes,
}: {
  name: string;
  token: string;
  minutes: number;
  recoveryCodes?: readonly string[] | undefined;
}): Page => ({
  title: 'You are signed in',
  body: html`<p>${name}</p>
    ${recoveryCodes ? codeList(recoveryCodes) : ''}
    <h2><label for="token">Access token</label></h2>
    <p class="help" id="token-help">
      Valid for ${minutes} minutes. Anyone who has it can act as you: treat it like a password.
    </p>
    <textarea id="token" readonly aria-describedby="token-help" spellcheck="false">${token}</textarea>`,
});

/** Shows new recovery codes once. */
export const codeListPage = (codes: readonly string[], next?: { href: string; label: string }): Page => ({
  title: 'Your authenticator app is set up',
  body: html`${codeList(codes)} ${next ? html`<a class="button" href="${next.href}">${next.label}</a>` : ''}`,
});

const codeList = (codes: readonly string[]) =>
  html`<h2>Recovery codes</h2>
    <p>Keep them where you find them without your phone. Each works once. They are not shown again.</p>
    <ul class="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>`;

const again = (base: string) => html`<a class="alone" href="${base + paths.start}">Use another address</a>`;
