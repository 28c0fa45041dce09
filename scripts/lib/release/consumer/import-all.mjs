// Imports every entry point of the packages in plain Node, or reads it if it is JSON. The two
// drop-ins are scripts for browsers only; those are parsed.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const browserOnly = /\/connector-(?:frame|catalog)\.js$/;
const entries = process.argv.slice(2);
for (const entry of entries) {
  const file = fileURLToPath(import.meta.resolve(entry));
  if (file.endsWith('.json')) JSON.parse(readFileSync(file, 'utf8'));
  else if (browserOnly.test(entry)) execFileSync(process.execPath, ['--check', file]);
  else await import(entry);
}
console.log(entries.length);
