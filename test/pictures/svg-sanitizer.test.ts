import { describe, expect, test } from 'vitest';
import { sanitizeSvg } from '../../src/adapters/pictures/svg-sanitizer.ts';
import { svgOf } from '../support/picture-files.ts';

const SVG = 'xmlns="http://www.w3.org/2000/svg"';
const textOf = (content: string): string =>
  sanitizeSvg(svgOf(content, 'viewBox="0 0 9 9"'))
    .text.replace(`<svg ${SVG} viewBox="0 0 9 9">`, '')
    .replace(/<\/svg>$/, '');

describe('of an SVG', () => {
  test.each([
    ['shapes and their attributes', '<g id="a" transform="scale(2)"><path d="M0 0h9" fill="#f00"></path></g>'],
    ['gradients', '<linearGradient id="g"><stop offset="0" stop-color="rgb(1, 2, 3)"></stop></linearGradient>'],
    ['references within the file', '<use href="#a"></use><rect fill="url(#g)" mask="url(&quot;#m&quot;)"></rect>'],
    ['texts', '<text x="1">a &lt; b &amp; c\nd</text>'],
    ['filters', '<filter id="f"><feGaussianBlur stdDeviation="2"></feGaussianBlur></filter>'],
  ])('%s are kept', (_, content) => expect(textOf(content)).toBe(content));

  test.each([
    ['comments and processing instructions', '<!-- a --><?x y?><g/>', '<g></g>'],
    ['links, but not what they contain', '<a href="https://x.example"><g/></a>', '<g></g>'],
    ['styles without references', '<style>.a { fill: url(#b) }</style><g class="a"/>', '<g></g>'],
    ['animations', '<rect><animate attributeName="href" to="x"/></rect>', '<rect></rect>'],
    ['elements of other namespaces', '<metadata xmlns:dc="urn:dc"><dc:source>x</dc:source></metadata><g/>', '<g></g>'],
    ['unknown elements with their content', '<unknown><g/>text</unknown><g/>', '<g></g>'],
    ['unknown attributes', '<g data-x="1" tabindex="0" xml:base="https://x.example"/>', '<g></g>'],
    [
      'values with unknown functions',
      '<g fill="image-set(x)" mask="src(x)" opacity="calc(1)"/>',
      '<g opacity="calc(1)"></g>',
    ],
    ['values with escapes', '<g fill="u\\72l(x)"/>', '<g></g>'],
    ['values with an incomplete reference', '<g fill="url(#a"/>', '<g></g>'],
  ])('%s are left out', (_, content, kept) => expect(textOf(content)).toBe(kept));

  test('the style of an element becomes attributes and has precedence over them', () => {
    const style = 'fill: #00f !important; position: fixed; stroke:red;';
    expect(textOf(`<g fill="#f00" style="${style}"/>`)).toBe('<g fill="#00f" stroke="red"></g>');
  });

  test('references of XLink become plain ones, and prefixes are removed', () => {
    expect(textOf('<s:use xmlns:s="http://www.w3.org/2000/svg" xlink:href="#a"/>')).toBe('<use href="#a"></use>');
  });

  test('embedded raster pictures are kept and returned', () => {
    const content = '<image width="9" href="data:image/png;base64,AAEC"></image>';
    expect(textOf(content)).toBe(content);
    expect(sanitizeSvg(svgOf(content)).images).toEqual([Buffer.from([0, 1, 2])]);
  });

  test('a document type without declarations is left out', () => {
    const type = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">';
    expect(sanitizeSvg(`<?xml version="1.0"?>${type}${svgOf('<g/>', '')}`).text).toBe(`<svg ${SVG}><g></g></svg>`);
  });
});

describe('an SVG is refused with', () => {
  const depth = (levels: number) => `${'<g>'.repeat(levels)}${'</g>'.repeat(levels)}`;

  test.each([
    ['a script', '<script>alert(1)</script>', /element script/],
    ['a script of another prefix', '<s:script xmlns:s="http://www.w3.org/2000/svg"/>', /element script/],
    ['a script of HTML', '<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>', /element script/],
    ['a script in an element that is left out', '<unknown><script/></unknown>', /element script/],
    ['an event attribute', '<g onload="alert(1)"/>', /attribute onload/],
    ['an event attribute of an element that is left out', '<unknown OnClick="alert(1)"/>', /attribute OnClick/],
    ['a document of HTML', '<foreignObject><p>a</p></foreignObject>', /element foreignObject/],
    ['a link that runs a script', '<a href=" JavaScript:alert(1)"><g/></a>', /a script/],
    ['a picture of another server', '<image href="https://x.example/a.png"/>', /reference to another file/],
    ['a picture of the file system', '<image xlink:href="file:///etc/passwd"/>', /reference to another file/],
    ['a part of another file', '<use href="other.svg#a"/>', /reference to another file/],
    ['an embedded SVG', '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>', /reference to another file/],
    ['an embedded page', '<use href="data:text/html,a"/>', /reference to another file/],
    ['a fill of another file', '<g fill="url(https://x.example/a.svg#b)"/>', /reference to another file/],
    ['a style of another file', `<g style="fill: URL( 'https://x.example' )"/>`, /reference to another file/],
    ['an import of styles', '<style>@import "https://x.example";</style>', /reference to another file/],
    ['a font of another server', '<style>@font-face{src:url(//x.example)}</style>', /reference to another file/],
    ['a style sheet', '<?xml-stylesheet href="x.css"?>', /style sheet/],
    ['an unknown entity', '<text>&secret;</text>', /not well-formed/],
    ['an open element', '<g>', /not well-formed/],
    ['too many levels', depth(100), /elements nested more than 100 levels deep/],
    ['too many elements', '<g/>'.repeat(20_000), /more than 20000 elements/],
    ['too many copies', '<use href="#a"/>'.repeat(501), /more than 500 "use" elements/],
    ['too many pictures', '<image href="data:image/png;base64,AAEC"/>'.repeat(21), /more than 20 pictures/],
  ])('%s', (_, content, message) => expect(() => sanitizeSvg(svgOf(content))).toThrow(message));

  test.each([
    ['entities', `<!DOCTYPE svg [<!ENTITY a "b">]>${svgOf('<text>&a;</text>')}`, /declarations of entities/],
    ['another root', '<html><body/></html>', /element html/],
    ['a root without namespace', '<svg width="1"/>', /not an SVG/],
    ['a prefix without namespace', svgOf('<x:g/>'), /not well-formed/],
    ['text after its end', `${svgOf('')}text`, /not well-formed/],
  ])('%s', (_, source, message) => expect(() => sanitizeSvg(source)).toThrow(message));
});

test('a level and an element below the limits are kept', () => {
  expect(sanitizeSvg(svgOf('<g>'.repeat(99) + '</g>'.repeat(99))).text).toContain('<g></g>');
  expect(sanitizeSvg(svgOf('<use href="#a"/>'.repeat(500))).text.match(/<use /g)).toHaveLength(500);
});
