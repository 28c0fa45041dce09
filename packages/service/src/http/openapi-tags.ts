/** The tags of operations, in the order in which documentation shows them. */
export const tags: readonly { name: string; description: string }[] = [
  {
    name: 'Catalog',
    description:
      'The types of inputs, outputs and enrichments, the same for every organization. Each type describes its settings and secrets as JSON Schema 2020-12.',
  },
  { name: 'Inputs', description: 'Connectors that read or receive records.' },
  { name: 'Outputs', description: 'Connectors that records are delivered to.' },
  { name: 'Enrichments', description: 'Connectors that add what they look up to records, and key-value tables.' },
  { name: 'Secrets', description: 'Credentials of an organization. No response contains their values.' },
  {
    name: 'Connect accounts',
    description: 'Customers sign in at a vendor (OAuth 2.0), or trust the service at AWS, instead of pasting a token.',
  },
  { name: 'Integrations', description: 'An input, a pipeline and an output, created or deleted together.' },
  {
    name: 'Pipelines',
    description: 'Graphs of inputs, transforms, enrichments and outputs, their status, metrics and buffers.',
  },
  { name: 'Dead letters', description: 'Records that were rejected permanently.' },
  { name: 'Transforms', description: 'Operations on records, and the conditions under which they apply.' },
  { name: 'Sandbox', description: 'Runs a transform or a condition on one record; saves nothing.' },
  { name: 'Logs', description: 'Log entries of pipelines and of changing requests, as streams of events.' },
  { name: 'Alerts', description: 'Rules about pipelines, and the alerts that they raise.' },
  { name: 'Audit log', description: 'Who changed what, with the states before and after.' },
  { name: 'Organizations', description: 'A parent organization and its teams.' },
  { name: 'Resource shares', description: 'Outputs and secrets that an organization shares with its teams.' },
  { name: 'API keys', description: 'Long-lived credentials for backends.' },
  { name: 'Roles', description: 'Sets of permissions that API keys have.' },
  { name: 'Users', description: 'People who sign in, their roles in organizations, and invitations.' },
  {
    name: 'Sign-in',
    description:
      'How users sign in, and the tokens of their clients. Operations under `/login` are pages for browsers.',
  },
  { name: 'Connections', description: 'Identity providers of organizations, by SAML 2.0.' },
  { name: 'Feature flags', description: 'What the operator switches on and off.' },
  {
    name: 'Usage',
    description: 'What pipelines have received and delivered, as series, as an export, and as storage cost.',
  },
  { name: 'Quotas', description: 'Limits of what organizations receive and deliver in a day or a month.' },
  {
    name: 'Billing',
    description: 'Accounts of organizations, the products they have, and statements of what they owe.',
  },
  { name: 'Sessions', description: 'Short-lived credentials for frames.' },
  { name: 'Icons', description: "Vendors' icons, without authentication." },
  { name: 'Form', description: 'The page inside the frame and its files.' },
  { name: 'Drop-in', description: 'Scripts for host pages without a build.' },
  { name: 'Health', description: 'For load balancers and operators.' },
];
