import type { Shape } from '../template.js';

export const auth0Logs: Shape = {
  documentation: 'https://auth0.com/docs/deploy-monitor/logs/log-event-type-codes',
  choices: {
    event: [
      { type: 's', description: 'Successful login' },
      { type: 's', description: 'Successful login' },
      { type: 'fp', description: 'Wrong email or password.' },
      { type: 'seacft', description: 'Authorization Code for Access Token' },
      { type: 'limit_wc', description: 'User blocked: too many failed logins' },
    ],
  },
  record: {
    _id: '900{digits:53}',
    log_id: '900{digits:53}',
    date: '{time.iso}',
    type: '{event.type}',
    description: '{event.description}',
    connection: 'Username-Password-Authentication',
    connection_id: 'con_{letters:16}',
    client_id: '{letters:32}',
    client_name: 'Example App',
    ip: '{ip}',
    hostname: 'example.auth0.example.com',
    user_agent: '{agent}',
    user_id: 'auth0|{hex:24}',
    user_name: '{person.email}',
    strategy: 'auth0',
    strategy_type: 'database',
    isMobile: '{bool}',
  },
};
