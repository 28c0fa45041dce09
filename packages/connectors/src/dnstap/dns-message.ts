import { decode, type Answer } from 'dns-packet';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';

/** Questions and resource records of a message that are kept. */
const MAX_ITEMS = 100;

/** Reads a DNS message. One that can't be read is kept in Base64. */
export function dnsMessage(bytes: Uint8Array): DataRecord {
  try {
    const {
      id,
      opcode,
      rcode,
      questions = [],
      answers = [],
      authorities = [],
      ...flags
    } = decode(Buffer.from(bytes)) as Decoded;
    return {
      id,
      opcode,
      rcode,
      flags: {
        qr: flags.type === 'response',
        aa: flags.flag_aa,
        tc: flags.flag_tc,
        rd: flags.flag_rd,
        ra: flags.flag_ra,
        ad: flags.flag_ad,
        cd: flags.flag_cd,
      },
      questions: questions.slice(0, MAX_ITEMS).map(({ name, type, class: kind }) => ({ name, type, class: kind })),
      answers: answers.slice(0, MAX_ITEMS).map(recordOf),
      authorities: authorities.slice(0, MAX_ITEMS).map(recordOf),
    };
  } catch {
    return { parse_error: 'dns', message: Buffer.from(bytes).toString('base64') };
  }
}

/** What `decode` returns besides the declared properties. */
type Decoded = ReturnType<typeof decode> & {
  opcode?: string;
  rcode?: string;
  flag_aa?: boolean;
  flag_tc?: boolean;
  flag_rd?: boolean;
  flag_ra?: boolean;
  flag_ad?: boolean;
  flag_cd?: boolean;
};

function recordOf(answer: Answer): DataRecord {
  const { name, type } = answer;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library's types leave out what only some records have
  const { ttl, class: kind, data } = answer as { ttl?: number; class?: string; data?: unknown };
  return { name, type, class: kind, ttl, data: valueOf(data) };
}

/** Converts bytes in the data of a record, such as those of a TXT record, to texts. */
function valueOf(data: unknown): JsonValue | undefined {
  if (data instanceof Uint8Array) return Buffer.from(data).toString('utf8');
  if (Array.isArray(data)) return data.map((each) => valueOf(each) ?? null);
  if (typeof data === 'object' && data !== null)
    return Object.fromEntries(Object.entries(data).map(([key, each]) => [key, valueOf(each)]));
  return typeof data === 'string' || typeof data === 'number' || typeof data === 'boolean' ? data : undefined;
}
