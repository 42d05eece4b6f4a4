/** The part of wawoff2 that reads fonts. The package has no types. */
declare module 'wawoff2' {
  /** Returns the TrueType file of a WOFF2 file. */
  export function decompress(file: Uint8Array): Promise<Uint8Array>;
}
