import { describe, expect, it } from 'vitest';
import { buildIcons } from './build-icons.js';
import { iconProblems } from './check-icon.js';
import { contrast, readable, toHex } from './color.js';
import { finishIcon } from './finish-icon.js';

const wrap = (body: string, box = '0 0 24 24'): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}">${body}</svg>`;

describe('color', () => {
  it('calculates the contrast ratio as WCAG defines it', () => {
    expect(contrast('#ffffff', '#000000')).toBeCloseTo(21, 5);
    expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  });

  it.each([
    ['#ABC', '#aabbcc'],
    ['#a1b2c3', '#a1b2c3'],
    ['black', '#000000'],
    ['none', undefined],
    ['url(#a)', undefined],
    ['currentColor', undefined],
  ])('reads %s as %s', (color, hex) => {
    expect(toHex(color)).toBe(hex);
  });

  it('keeps a color with enough contrast, turns gray into white and lightens other colors', () => {
    expect(readable('#007dc1', '#16181d', '#ffffff', 3)).toBe('#007dc1');
    expect(readable('#181717', '#16181d', '#ffffff', 3)).toBe('#ffffff');
    const lighter = readable('#000099', '#16181d', '#ffffff', 3);
    expect(contrast(lighter, '#16181d')).toBeGreaterThanOrEqual(3);
    expect(lighter).not.toBe('#ffffff');
  });
});

describe('finishIcon', () => {
  it('adds a light and a dark fill to a single-color icon', () => {
    const svg = finishIcon('acme', {
      svg: wrap('<title>Acme</title><path d="M0 0h9v9z"/>'),
      color: '#181717',
      license: 'MIT',
    });
    expect(svg).toBe(
      wrap(
        '<style>.acme-0{fill:#181717}@media (prefers-color-scheme:dark){.acme-0{fill:#ffffff}}</style><path d="M0 0h9v9z" class="acme-0"/>',
      ),
    );
  });

  it('adds one fill if the color is readable on light and dark backgrounds', () => {
    const svg = finishIcon('acme', { svg: wrap('<path d="M0 0h9v9z"/>'), color: '#007dc1', license: 'MIT' });
    expect(svg).toBe(wrap('<path d="M0 0h9v9z" fill="#007dc1"/>'));
  });

  it('makes the icon square, prefixes its IDs and removes its size, styles and classes', () => {
    const gradient =
      '<linearGradient id="g"><stop offset="0" stop-color="red"/><stop offset="1" stop-color="#00f"/></linearGradient>';
    const body = `<style>.a{fill:red}</style><defs>${gradient}</defs><path class="a" d="M0 0h90v9z"/><path fill="url(#g)" d="M0 9h90v9z"/>`;
    const svg = finishIcon('acme', {
      svg: wrap(body, '0 0 90 60').replace('<svg', '<svg width="90" height="60"'),
      license: 'MIT',
    });
    expect(svg).toContain('viewBox="0 -15 90 90"');
    expect(svg).toMatch(/id="acme-mark-\w+"/);
    expect(svg).not.toMatch(/width=|height=|<style|class=/);
    expect(iconProblems('acme', svg, 'MIT')).toEqual([]);
  });
});

describe('iconProblems (S23)', () => {
  it.each([
    ['<script>1</script>', 'a script'],
    ['<path onload="x()" d="M0 0"/>', 'an event handler'],
    ['<foreignObject/>', 'an element that is no drawing'],
    ['<image href="#x"/>', 'an element that is no drawing'],
    ['<use href="https://evil.example/x.svg#a"/>', 'a reference to another file'],
    ['<path fill="url(https://evil.example)" d="M0 0"/>', 'a reference to another file'],
    ['<style>@import "x"</style>', 'a style that loads something'],
    ['<path d="M0 0"/><!-- x -->', 'a declaration'],
    ['<path id="other" d="M0 0"/>', 'it must begin with "acme-"'],
    [`<path d="${'M0 0'.repeat(4000)}"/>`, 'choose a simpler one'],
  ])('rejects %s', (body, message) => {
    expect(iconProblems('acme', wrap(body), 'CC0-1.0').join('\n')).toContain(message);
  });

  it('rejects another license, an icon that is not square and a document that is not SVG', () => {
    expect(iconProblems('acme', wrap('<path d="M0 0"/>'), 'Apache-2.0').join()).toContain('is under Apache-2.0');
    expect(iconProblems('acme', wrap('<path d="M0 0"/>', '0 0 24 12'), 'MIT')).toEqual(['is not square']);
    expect(iconProblems('acme', '<p>', 'MIT').join()).toContain('is no SVG document');
  });
});

const problemsOf = async (value: unknown): Promise<string[]> =>
  (await buildIcons({ file: 'icons.json', value })).problems.map(({ pointer, message }) => `${pointer} ${message}`);

describe('buildIcons', () => {
  it('builds an icon from each package and from this repository', async () => {
    const { icons, problems } = await buildIcons({
      file: 'icons.json',
      value: {
        okta: { from: 'simple-icons', name: 'okta' },
        azure: { from: '@iconify-json/logos', name: 'microsoft-azure' },
        box: { from: '@iconify-json/cib', name: 'docusign' },
        tree: { from: '@iconify-json/material-icon-theme', name: 'git' },
        teleport: { from: 'marks', name: 'teleport' },
      },
    });
    expect(problems).toEqual([]);
    expect([...icons.keys()]).toEqual(['okta', 'azure', 'box', 'tree', 'teleport']);
  });

  it.each([
    [{ acme: { from: 'simple-icons', name: 'no-such-icon' } }, '/acme simple-icons has no icon "no-such-icon"'],
    [{ acme: { from: 'left-pad', name: 'x' } }, '/acme left-pad has no icon "x"'],
    [{ acme: { from: 'marks', name: '../marks/teleport' } }, '/acme marks has no icon "../marks/teleport"'],
    [{ kafka: { from: 'simple-icons', name: 'apachekafka' } }, '/kafka is under Apache-2.0'],
    [{ slack: { from: '@iconify-json/logos', name: 'slack' } }, '/slack "slack" is a word, not a mark'],
    [{ 'A b': { from: 'simple-icons', name: 'okta' } }, '/A b key must be'],
    [{ acme: 'okta' }, '/acme must be { "from": package, "name": icon }'],
  ])('rejects %j', async (value, message) => {
    expect((await problemsOf(value)).join('\n')).toContain(message);
  });
});
