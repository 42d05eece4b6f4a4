import { join } from 'node:path';

/** Names by the family that they mean. A name that is neither listed nor bundled is skipped, as in any browser. */
const ALIASES: Readonly<Record<string, string>> = {
  'Noto Sans':
    'sans-serif, system-ui, ui-sans-serif, ui-rounded, -apple-system, BlinkMacSystemFont, Arial, Helvetica, Helvetica Neue, ' +
    'Verdana, Tahoma, Trebuchet MS, Segoe UI, Roboto, Calibri, Inter, Liberation Sans, Open Sans, Ubuntu, cursive, fantasy, ' +
    'Noto Sans Devanagari',
  'Noto Serif':
    'serif, ui-serif, Times, Times New Roman, Georgia, Cambria, Garamond, Palatino, Liberation Serif, DejaVu Serif',
  'DejaVu Sans Mono':
    'monospace, ui-monospace, Courier, Courier New, Consolas, Menlo, Monaco, SFMono-Regular, Liberation Mono, Noto Sans Mono',
  'Noto Naskh Arabic': 'Noto Sans Arabic',
  'Noto Color Emoji': 'emoji, Apple Color Emoji, Segoe UI Emoji, Segoe UI Symbol, Noto Emoji',
  'Noto Sans SC': 'Noto Sans CJK SC, Source Han Sans SC, Microsoft YaHei, SimSun, PingFang SC',
  'Noto Sans TC': 'Noto Sans CJK TC, Source Han Sans TC, Microsoft JhengHei, PMingLiU, PingFang TC',
  'Noto Sans JP': 'Noto Sans CJK JP, Source Han Sans, Meiryo, Yu Gothic, MS Gothic, Hiragino Sans',
  'Noto Sans KR': 'Noto Sans CJK KR, Source Han Sans K, Malgun Gothic, Gulim, Apple SD Gothic Neo',
};

const SANS = ['Noto Sans', 'Noto Naskh Arabic', 'Noto Sans Hebrew', 'Noto Sans Thai'];
const SYMBOLS = 'DejaVu Sans';
const EMOJI = 'Noto Color Emoji';
const [SC, TC, JP, KR] = ['Noto Sans SC', 'Noto Sans TC', 'Noto Sans JP', 'Noto Sans KR'] as const;

/** The order of families for Han characters by the language of the text. */
const HAN: readonly { languages: readonly string[]; families: readonly string[] }[] = [
  { languages: ['zh', 'zh-hans', 'zh-cn', 'zh-sg'], families: [SC, TC, JP, KR] },
  { languages: ['zh-hant', 'zh-tw', 'zh-hk', 'zh-mo'], families: [TC, SC, JP, KR] },
  { languages: ['ja', 'ja-jp'], families: [JP, SC, TC, KR] },
  { languages: ['ko', 'ko-kr', 'ko-kore'], families: [KR, JP, TC, SC] },
];

/** The language that Chromium asks for when a character is an emoji. */
const EMOJI_LANGUAGE = 'und-zsye';

/**
 * Returns the configuration of fontconfig that knows the fonts of a folder and no others. Names that are common in documents
 * mean bundled families; characters that a family lacks come from the others, in an order that depends on the language.
 */
export function fontsXml(folder: string): string {
  const aliases = Object.entries(ALIASES).flatMap(([family, names]) =>
    names.split(', ').map((name) => match([test('family', name)], edit('assign', [family], 'same'))),
  );
  const han = HAN.flatMap(({ languages, families }) =>
    languages.map((language) =>
      match([test('lang', language)], edit('append', [...SANS, ...families, SYMBOLS, EMOJI], 'strong')),
    ),
  );
  const rules = [
    ...aliases,
    match([test('lang', EMOJI_LANGUAGE)], edit('prepend', [EMOJI], 'strong')),
    ...han,
    // In other languages, arrows and signs have the width of letters.
    match([], edit('append', [...SANS, SYMBOLS, SC, JP, KR, TC, EMOJI], 'strong')),
  ];
  // The files of a variable font are named after its default, which is too thin to read and not used.
  const renames = [SC, TC, JP, KR].map(
    (family) => `<match target="scan">${test('family', `${family} Thin`)}${edit('assign', [family])}</match>`,
  );
  const reject =
    '<selectfont><rejectfont><pattern><patelt name="weight"><int>0</int></patelt></pattern></rejectfont></selectfont>';
  const cache = '<cachedir prefix="xdg">fontconfig</cachedir>';
  return `<fontconfig><dir>${escapeXml(join(folder, 'fonts'))}</dir>${cache}${renames.join('')}${reject}${rules.join('')}</fontconfig>\n`;
}

const test = (name: string, value: string): string =>
  `<test name="${name}"><string>${escapeXml(value)}</string></test>`;

const edit = (mode: string, families: readonly string[], binding?: string): string => {
  const values = families.map((family) => `<string>${escapeXml(family)}</string>`).join('');
  return `<edit name="family" mode="${mode}"${binding ? ` binding="${binding}"` : ''}>${values}</edit>`;
};

const match = (tests: readonly string[], change: string): string => `<match>${tests.join('')}${change}</match>`;

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
