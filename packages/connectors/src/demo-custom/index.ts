import { ConnectorError, isRecord, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { createSyntheticInput } from '../synthetic/synthetic-input.js';
import { compileCustom, quotePlaceholders } from './template.js';

/** Creates an input that generates records of the template in the configuration. */
export const demoCustomInput: ConnectorCode = {
  createInput: ({ settings }, { clock }) => {
    const rate = at(settings, 'rate') ?? 5;
    const template = text(settings, 'custom_template');
    if (template === undefined || typeof rate !== 'number' || !(rate > 0))
      throw invalid('Enter a template and a rate.');
    const shape = compileCustom(parsed(template));
    return createSyntheticInput({ rate, clock, shape });
  },
};

function parsed(template: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(quotePlaceholders(template));
  } catch {
    throw invalid('The template is not valid JSON.');
  }
  if (!isRecord(value)) throw invalid('The template must be one JSON object.');
  return value;
}

const invalid = (message: string): ConnectorError => new ConnectorError('invalid_config', message, 'permanent');
