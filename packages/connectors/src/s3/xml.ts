const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Returns the text of the first element with this name, or `undefined`. Sufficient for S3's flat
 * responses.
 */
export function element(xml: string, name: string): string | undefined {
  const begin = xml.indexOf(`<${name}>`);
  const end = begin < 0 ? -1 : xml.indexOf('<', begin + name.length + 2);
  if (end < 0 || !xml.startsWith(`</${name}>`, end)) return undefined;
  return xml
    .slice(begin + name.length + 2, end)
    .replace(
      /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
      (all, entity?: string, decimal?: string, hex?: string) => {
        if (entity !== undefined) return entities[entity.toLowerCase()] ?? all;
        const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
        return code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
      },
    );
}

/** Yields the inner XML of each element with this name. These elements must not be nested. */
export function* elements(xml: string, name: string): Generator<string, void, void> {
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let from = xml.indexOf(open); from >= 0; from = xml.indexOf(open, from)) {
    const end = xml.indexOf(close, from);
    if (end < 0) return;
    yield xml.slice(from + open.length, end);
    from = end + close.length;
  }
}
