/** Enough to see whether pages, cursor and deduplication work. */
const MAX_PAGES = 10;

/** Returns an egress that also counts the requests by method, host, path and status. */
function counting(egress, counts) {
  return {
    ...egress,
    fetch: async (address, init = {}) => {
      const { host, pathname, searchParams } = new URL(address);
      const query = [...new Set(searchParams.keys())].join(', ');
      const line = `${init.method ?? 'GET'} ${host}${pathname}${query === '' ? '' : ` (${query})`}`;
      const add = (outcome) => counts.set(`${line}: ${outcome}`, (counts.get(`${line}: ${outcome}`) ?? 0) + 1);
      try {
        const response = await egress.fetch(address, init);
        add(response.status);
        return response;
      } catch (error) {
        add(error.reason ?? 'failed');
        throw error;
      }
    },
  };
}

/** Reads pages from a cursor. Returns the records and the cursor after them. */
async function read(input, cursor) {
  const records = [];
  let pages = 0;
  let at = cursor;
  for await (const page of input.pages(at, new AbortController().signal, true)) {
    records.push(...page.records);
    at = page.cursor;
    if (page.records.length > 0) pages += 1;
    if (pages === MAX_PAGES) break;
  }
  return { records, pages, cursor: at };
}

const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

/**
 * Runs a connector type against the real vendor: its connection test, then for an input two reads,
 * the second one from the cursor of the first. The report has names of fields, never their values.
 *
 * @param options
 * - `type`: a type of the catalog; `config`: settings and secrets, not sealed
 * - `code`: the code of the type; `validate`: returns the issues of a configuration
 * - `egress`, `clock`: as an input gets them
 * - `print`: receives each line of the report
 * @returns whether everything that the type can do worked
 */
export async function verifyType({ type, config, code, validate, egress, clock, print }) {
  print(`${type.kind}:${type.type_id}, ${type.name}`);
  const issues = validate(type.config, config);
  for (const { path, message } of issues) print(`configuration: ${path} ${message}`);
  if (issues.length > 0) return false;
  if (!code.testConnection && !code.createInput) {
    print(`Nothing to run: the type has neither a connection test nor a runtime.`);
    return false;
  }
  const counts = new Map();
  const counted = counting(egress, counts);
  let worked = true;
  if (code.testConnection) {
    const outcome = await code.testConnection(config, { egress: counted, signal: AbortSignal.timeout(60_000) });
    print(`connection test: ${outcome.ok ? (outcome.summary ?? 'passed') : `${outcome.code}, ${outcome.message}`}`);
    worked = outcome.ok;
  }
  if (worked && code.createInput) worked = await readTwice({ type, config, code, egress: counted, clock, print });
  for (const [line, count] of counts) print(`request: ${line}${count > 1 ? `, ${count} times` : ''}`);
  return worked;
}

async function readTwice({ type, config, code, egress, clock, print }) {
  let input;
  try {
    input = code.createInput(config, { type, egress, clock });
    if (input.kind !== 'pages') {
      print('records: the vendor sends them; start a pipeline to receive some');
      return true;
    }
    const first = await read(input);
    print(`first read: ${plural(first.records.length, 'record')} on ${plural(first.pages, 'page')}`);
    const fields = new Set(first.records.flatMap((record) => Object.keys(record)));
    if (fields.size > 0) print(`fields: ${[...fields].toSorted().join(', ')}`);
    // As after a restart: what the cursor says must survive as JSON.
    const second = await read(input, JSON.parse(JSON.stringify(first.cursor ?? null)) ?? undefined);
    const known = new Set(first.records.map((record) => JSON.stringify(record)));
    const repeated = second.records.filter((record) => known.has(JSON.stringify(record))).length;
    print(`second read: ${plural(second.records.length, 'record')}, ${repeated} of them again`);
    return true;
  } catch (error) {
    if (error?.name !== 'ConnectorError' && error?.name !== 'PollError') throw error;
    print(`read: ${error.code}, ${error.message}`);
    return false;
  } finally {
    await input?.close?.();
  }
}
