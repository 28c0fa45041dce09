import { expect, test } from 'vitest';
import { element, elements } from './xml-elements.js';

const inError = (inner: string): string => `<?xml version="1.0"?>\n<Error>${inner}</Error>`;

test.each([
  ['text', '<Code>NoSuchBucket</Code>', 'NoSuchBucket'],
  ['the first of several', '<Code>A</Code><Code>B</Code>', 'A'],
  ['named entities', '<Code>&lt;&amp;&quot;&apos;&gt;</Code>', '<&"\'>'],
  ['entities by number', '<Code>&#34;&#x1F600;&#233;</Code>', '"😀é'],
  ['attributes and spaces', '<Code xml:lang="en" >A</Code >', 'A'],
  ['CDATA', '<Code><![CDATA[<A>&amp;]]></Code>', '<A>&amp;'],
  ['not what is in a comment', '<!-- <Code>A</Code> --><Code>B</Code>', 'B'],
  ['nothing in it', '<Code></Code>', ''],
  ['an empty tag', '<Code/>', undefined],
  ['another name', '<code>A</code><Codes>A</Codes>', undefined],
  ['names that objects have by themselves', '<__proto__>A</__proto__><constructor/><Code>B</Code>', 'B'],
])('%s', (_name, inner, text) => {
  expect(element(inError(inner), 'Code')).toBe(text);
});

test('a truncated response keeps the elements before', () => {
  const torn = '<Error><Code>SlowDown</Code><Message>Please re';
  expect(element(torn, 'Code')).toBe('SlowDown');
  expect(element(torn, 'Message')).toBeUndefined();
});

test.each(['', 'Bad Gateway', '<html><body><p>Bad<br>Gateway</body></html>', '<'.repeat(10_000), '{"Code":"A"}'])(
  'finds no element in %.20s',
  (text) => {
    expect(element(text, 'Code')).toBeUndefined();
    expect(elements(text, 'Contents')).toEqual([]);
  },
);

test('the children of repeated elements', () => {
  const xml = `<L><Contents><Key>a</Key><Owner><ID>7</ID></Owner><Size>1</Size></Contents><IsTruncated>true</IsTruncated>
    <Contents><Key>b</Key><Key>c</Key></Contents></L>`;
  expect(elements(xml, 'Contents').map((entry) => [entry.get('Key'), entry.get('Size'), entry.get('ID')])).toEqual([
    ['a', '1', undefined],
    ['b', undefined, undefined],
  ]);
});

test('declared entities are not expanded, neither from the document nor from files', () => {
  const bomb = `<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
  expect(element(`${bomb}<Error><Code>&b;&f;</Code></Error>`, 'Code')).toBe('&b;&f;');
});

test('stops at elements nested too deeply', () => {
  const deep = `<L><Code>A</Code>${'<a>'.repeat(1_000_000)}`;
  expect(element(deep, 'Code')).toBe('A');
  expect(element(`${deep}<Late>B</Late>`, 'Late')).toBeUndefined();
});
