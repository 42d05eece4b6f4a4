/* Reads and changes TrueType and OpenType files: https://learn.microsoft.com/typography/opentype/spec/otff */

const REGULAR = 400;
/** Numbers of the format 16.16. */
const FIXED = 65_536;

/** Returns the position of a table in a font, undefined if it has no table of the name. */
function findTable(font: Buffer, name: string): number | undefined {
  for (let entry = 12; entry < 12 + 16 * font.readUInt16BE(4); entry += 16)
    if (font.toString('latin1', entry, entry + 4) === name) return font.readUInt32BE(entry + 8);
  return undefined;
}

/**
 * Replaces a variable font by its instance of the weight 400. For each instance, fontconfig reads the file again, and
 * Chromium prints text that falls back to a font in one of its instances.
 */
export function keepRegularInstance(font: Buffer): void {
  const table = findTable(font, 'fvar');
  if (table === undefined) return;
  const axes = table + font.readUInt16BE(table + 4);
  const instances = axes + font.readUInt16BE(table + 8) * font.readUInt16BE(table + 10);
  const count = font.readUInt16BE(table + 12);
  const size = font.readUInt16BE(table + 14);
  for (let instance = instances; instance < instances + count * size; instance += size)
    if (font.readInt32BE(instance + 4) === REGULAR * FIXED) {
      font.copy(font, instances, instance, instance + size);
      font.writeUInt16BE(1, table + 12);
      return;
    }
}

/** Adds the characters of a font to a set. Reads the formats 4 and 12 of its table, which all bundled fonts have. */
export function addCharacters(font: Buffer, characters: Set<number>): void {
  const table = findTable(font, 'cmap')!;
  for (let index = 0; index < font.readUInt16BE(table + 2); index++) {
    const start = table + font.readUInt32BE(table + 8 + 8 * index);
    const format = font.readUInt16BE(start);
    if (format === 12) addGroups(font, start, characters);
    else if (format === 4) addSegments(font, start, characters);
  }
}

function addGroups(font: Buffer, start: number, characters: Set<number>): void {
  const end = start + 16 + 12 * font.readUInt32BE(start + 12);
  for (let group = start + 16; group < end; group += 12)
    for (let code = font.readUInt32BE(group); code <= font.readUInt32BE(group + 4); code++) characters.add(code);
}

function addSegments(font: Buffer, start: number, characters: Set<number>): void {
  const bytes = font.readUInt16BE(start + 6);
  for (let offset = 0; offset < bytes; offset += 2) {
    const last = font.readUInt16BE(start + 14 + offset);
    const first = font.readUInt16BE(start + 16 + bytes + offset);
    const shift = font.readUInt16BE(start + 16 + 2 * bytes + offset);
    const list = start + 16 + 3 * bytes + offset;
    const from = font.readUInt16BE(list);
    for (let code = first; code <= last && code < 0xffff; code++) {
      const glyph = from === 0 ? code + shift : font.readUInt16BE(list + from + 2 * (code - first));
      if ((glyph & 0xffff) !== 0) characters.add(code);
    }
  }
}
