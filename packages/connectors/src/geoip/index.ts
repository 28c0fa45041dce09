import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createDatabaseLookup } from './database-lookup.js';

/** The name of the file that Geolocus publishes: https://www.geolocus.io */
const GEOLOCUS_FILE = 'geolocus.mmdb';

export const geoipEnrichment: ConnectorCode = createDatabaseLookup({
  at: '/settings/database',
  example: { country: { iso_code: 'SE', names: { en: 'Sweden' } }, city: { names: { en: 'Linköping' } } },
});

export const geolocusEnrichment: ConnectorCode = createDatabaseLookup({
  file: GEOLOCUS_FILE,
  at: '/settings/ip_address_path',
  example: { country_code: 'SE', country: 'Sweden', asn: 'AS29518', as_org: 'Bredband2 AB' },
});
