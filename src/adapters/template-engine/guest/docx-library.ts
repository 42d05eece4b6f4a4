/** The parts of docxtemplater 3.71 and pizzip 3.3 that the engine uses. */

/** A tag of a document. */
interface DocxTag {
  value: string;
  module?: string;
}

interface ScopeManager {
  scopeList: readonly unknown[];
}

interface DocxOptions {
  paragraphLoop: boolean;
  linebreaks: boolean;
  parser(tag: string): { get(scope: unknown): unknown };
  nullGetter(tag: DocxTag, scopes: ScopeManager): unknown;
}

export interface Zip {
  file(path: string): { asText(): string } | null;
  generate(options: { type: 'uint8array'; compression: 'DEFLATE' }): Uint8Array;
}

export interface Docxtemplater {
  new (zip: Zip, options: DocxOptions): { fileType: string; render(data: object): void; getZip(): Zip };
}

export type PizZip = new (content: Uint8Array) => Zip;

/** An error of a tag, or of several. */
export interface DocxError {
  message: string;
  properties?: { id?: string; explanation?: string; rootError?: Error; errors?: readonly DocxError[] };
}
