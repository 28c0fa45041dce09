/**
 * What few types need: entry point of a separate script, which the form loads for them. It imports
 * nothing that has state, and not Lit, which the page's Trusted Types let load only once; what it shares
 * with the form's script is passed.
 */
import { createAccount as create, type CreateAccount } from './model/account.js';
import { openWindow } from './open-window.js';

export { mountSetup } from './setup/main.js';

export const createAccount: CreateAccount = (tools) => create({ ...tools, openWindow });
