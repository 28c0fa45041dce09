import { describe, expect, it } from 'vitest';
import { areAllowed } from './load-stylesheets.js';

const HOST = 'https://app.acme.example';

describe('areAllowed', () => {
  it.each([
    ['its own origin', [`${HOST}/form.css`, `${HOST}/a/b.css?v=2`], HOST, true],
    ['none at all', [], HOST, true],
    ['http on localhost', ['http://localhost:3000/form.css'], 'http://localhost:3000', true],
    ['eight', Array.from({ length: 8 }, (_, index) => `${HOST}/${index}.css`), HOST, true],
    ['nine', Array.from({ length: 9 }, (_, index) => `${HOST}/${index}.css`), HOST, false],
    ['another origin', ['https://evil.example/form.css'], HOST, false],
    ['another port', [`${HOST}:8443/form.css`], HOST, false],
    ['http elsewhere', ['http://app.acme.example/form.css'], 'http://app.acme.example', false],
    ['data', ['data:text/css,*{}'], HOST, false],
    ['blob', [`blob:${HOST}/0b1c`], HOST, false],
    ['a path', ['/form.css'], HOST, false],
    ['a name that only looks local', ['http://localhost.evil.example/x.css'], 'http://localhost.evil.example', false],
    ['one of two', [`${HOST}/form.css`, 'https://evil.example/x.css'], HOST, false],
  ])('%s: %j', (_, urls, origin, allowed) => {
    expect(areAllowed(urls, origin)).toBe(allowed);
  });
});
