import { expect, test } from 'vitest';
import { highlight } from './highlight.js';

const marked = (code: string, file: string) =>
  highlight(code, file)
    .map(({ text }) => text)
    .join('')
    .replace(/<span class="code-(\w+)">(.*?)<\/span>/gs, '[$1 $2]')
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));

test.each([
  ['a.html', '<p class="x">from here</p>', '[tag <p] [name class]=[string "x"]>from here[tag </p]>'],
  ['a.html', '<!-- a "b" -->', '[comment <!-- a "b" -->]'],
  ['a.tsx', "import { a } from 'b'; // c", "[word import] { a } [word from] [string 'b']; [comment // c]"],
  ['a.tsx', '<A b={c} />', '[tag <A] [name b]={c} />'],
  ['a.ts', 'useState<Place>()', 'useState<Place>()'],
  ['a.html', 'src="http://x/y"', '[name src]=[string "http://x/y"]'],
])('%s: %s', (file, code, expected) => {
  expect(marked(` ${code}`, file)).toBe(` ${expected}`);
});

test('keeps all characters and escapes markup', () => {
  const code = '<script>alert("<b>")</script> & \'';
  const text = highlight(code, 'a.html')
    .map((part) => part.text)
    .join('');
  expect(text.replace(/<span class="code-\w+">|<\/span>/g, '')).not.toMatch(/[<>]/);
  expect(marked(code, 'a.html').replace(/\[\w+ (.*?)\]/g, '$1')).toBe(code);
});
