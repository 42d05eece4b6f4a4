/** The part of opentype.js that letters use. The package has no types. */
declare module 'opentype.js' {
  /** A command of an SVG path; which of the coordinates it has depends on its type. */
  export interface Command {
    type: 'M' | 'L' | 'C' | 'Q' | 'Z';
    x1?: number;
    y1?: number;
    x2?: number;
    y2?: number;
    x?: number;
    y?: number;
  }
  interface Path {
    /** Empty for characters that are not visible. */
    commands: Command[];
    getBoundingBox(): { x1: number; y1: number; x2: number; y2: number };
  }
  interface Glyph {
    /** 0 is the glyph that the font shows for characters that it lacks. */
    index: number;
    getPath(x: number, y: number, fontSize: number): Path;
  }
  /** `getPath` of a font shapes a whole text, and throws for some scripts. A glyph does not. */
  export interface Font {
    charToGlyph(character: string): Glyph;
  }
  /** With `lowMemory`, glyphs are read when they are first used. */
  const opentype: { parse(font: ArrayBuffer, options: { lowMemory: boolean }): Font };
  export default opentype;
}
