import { runPollContract } from '../../../../../test/support/poll-contract.js';
import { cloudflare } from '../../../../../test/support/vendors/cloudflare.js';
import { duo } from '../../../../../test/support/vendors/duo.js';
import { github } from '../../../../../test/support/vendors/github.js';
import { google } from '../../../../../test/support/vendors/google.js';
import { okta } from '../../../../../test/support/vendors/okta.js';
import { onelogin } from '../../../../../test/support/vendors/onelogin.js';
import { slack } from '../../../../../test/support/vendors/slack.js';
import { snyk } from '../../../../../test/support/vendors/snyk.js';
import { tailscale } from '../../../../../test/support/vendors/tailscale.js';
import { zoom } from '../../../../../test/support/vendors/zoom.js';

for (const vendor of [cloudflare, duo, github, google, okta, onelogin, slack, snyk, tailscale, zoom])
  runPollContract(vendor);
