/** Categorical palettes. The default (Observable 10) is distinguishable even with colour blindness. */
const CATEGORICAL: Record<string, readonly string[]> = {
  default: [
    '#4269d0',
    '#efb118',
    '#ff725c',
    '#6cc5b0',
    '#3ca951',
    '#ff8ab7',
    '#a463f2',
    '#97bbf5',
    '#9c6b4e',
    '#9498a0',
  ],
  cool: ['#1f78b4', '#33a6a6', '#5e60ce', '#48bfe3', '#2a9d8f', '#7b9acc', '#3d5a80', '#98c1d9'],
  warm: ['#d1495b', '#edae49', '#c1666b', '#f4845f', '#9e2a2b', '#e09f3e', '#f7b267', '#b5651d'],
  pastel: ['#8ecae6', '#ffb5a7', '#b5e2b0', '#f9dc8c', '#cdb4db', '#f7c6d9', '#a9d6d0', '#d6c6b0'],
  earth: ['#606c38', '#bc6c25', '#283618', '#dda15e', '#7f5539', '#a3b18a', '#9c6644', '#588157'],
};

/** Sequential palettes, from low to high. */
const SEQUENTIAL: Record<string, readonly string[]> = {
  blues: ['#e8f1fa', '#9ecae1', '#4292c6', '#08458a'],
  greens: ['#e9f6e6', '#a1d99b', '#41ab5d', '#00561f'],
  oranges: ['#fff0e0', '#fdae6b', '#f16913', '#8c2d04'],
  purples: ['#f1eff8', '#bcbddc', '#807dba', '#4a1486'],
  reds: ['#fdeae3', '#fc9272', '#ef3b2c', '#7f0a10'],
  viridis: ['#440154', '#31688e', '#35b779', '#fde725'],
};
const OF_MOOD: Record<string, string> = { cool: 'blues', warm: 'oranges', earth: 'greens', pastel: 'purples' };

const own = (table: Record<string, readonly string[]>, name: string): readonly string[] | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Returns the colours of series. Palettes of one hue begin with its strongest tone. */
export function palette(name: string | null | undefined): string[] {
  const wanted = (name ?? '').toLowerCase();
  return [
    ...(own(CATEGORICAL, wanted) ?? own(SEQUENTIAL, wanted)?.toReversed().slice(0, 3) ?? CATEGORICAL['default']!),
  ];
}

/** Returns the colours of a scale from low to high. */
export function scale(name: string | null | undefined): string[] {
  const wanted = (name ?? '').toLowerCase();
  return [...(own(SEQUENTIAL, wanted) ?? own(SEQUENTIAL, OF_MOOD[wanted] ?? '') ?? SEQUENTIAL['blues']!)];
}

/** Returns whether dark text is more readable on the colour `#rrggbb` than white text. */
export function isLight(color: string): boolean {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return 0.299 * red + 0.587 * green + 0.114 * blue > 150;
}
