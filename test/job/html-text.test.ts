import { expect, test } from 'vitest';
import { htmlToText } from '../../src/services/job/drivers/email/html-text.ts';

test.for<[string, string]>([
  ['plain', 'plain'],
  ['a  b\n c', 'a b c'],
  ['<h1>Title</h1><p>One<br>two</p><p>Three</p>', 'Title\n\nOne\ntwo\n\nThree'],
  ['<div>a</div><div>b</div>', 'a\nb'],
  ['<ol><li>a</li><li>b</li></ol>', '- a\n- b'],
  ['<table><tr><td>a</td><td>b</td></tr></table>', 'a\tb'],
  ['<a href="https://x.example/">here</a>', 'here (https://x.example/)'],
  [`<A HREF='https://x.example/'>https://x.example/</A>`, 'https://x.example/'],
  ['<a href="javascript:alert(1)">x</a></a>', 'x'],
  ['<head><title>T</title></head><script>1 < 2</script>x<style>p{}', 'x'],
  ['<!doctype html><!-- <p>no</p> -->x', 'x'],
  [
    '&lt;b&gt; &amp;amp; &#228;&#xe4; &nbsp;&quot;&apos; &unknown; &#0; &#xd800;',
    '<b> &amp; ää \u00a0"\' &unknown; &#0; &#xd800;',
  ],
  ['1 < 2 <b', '1 < 2 <b'],
  ['<img alt="a > b" src="x">y', 'y'],
])('%j becomes %j', ([html, text]) => {
  expect(htmlToText(html)).toBe(text);
});

test.for(['<', '<a ', '<a "', `<a "'`, '<style>', '<!--', '&#', '</a', '<a href='])(
  'a hundred thousand %j end',
  (part) => {
    expect(htmlToText(part.repeat(200_000 / part.length)).length).toBeLessThanOrEqual(200_000);
  },
);
