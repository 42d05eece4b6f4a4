import { expect, test } from 'vitest';
import { htmlToText } from '../../src/services/resource/html-text.ts';

test.for<[string, string]>([
  ['plain', 'plain'],
  ['<h1>Title</h1><p>One<br>two</p><p>Three</p>', 'Title\n\nOne\ntwo\n\nThree'],
  ['<ol><li>a</li><li>b</li></ol>', ' 1. a\n 2. b'],
  ['<table><tr><th>h</th><th>i</th></tr><tr><td>a</td><td>b</td></tr></table>', 'h i\na b'],
  ['<a href="https://x.example/">here</a>', 'here (https://x.example/)'],
  [`<A HREF='https://x.example/'>https://x.example/</A>`, 'https://x.example/'],
  ['<a href="javascript:alert(1)">x</a>', 'x'],
  ['<head><title>T</title></head><script>1 < 2</script>x<img alt="a > b" src="y">', 'x'],
  ['&lt;b&gt; &amp;amp; &#228;', '<b> &amp; ä'],
])('%j becomes %j', ([html, text]) => {
  expect(htmlToText(html)).toBe(text);
});

test.for(['1000000000', 'Infinity', '100000'])(
  'a cell that spans %s columns or rows takes no additional space',
  (span) => {
    const html = `<table><tr><td colspan="${span}">a</td><td rowspan="${span}">b</td></tr></table>`;
    expect(htmlToText(html)).toBe('a b');
  },
);

test('nested elements without an end are cut', () => {
  expect(htmlToText('<div>'.repeat(40_000)).length).toBeLessThan(1000);
});
