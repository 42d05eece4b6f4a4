/** The parts of docxtemplater 3.71 and pizzip 3.3 that the engine uses. */

/** A tag of a document. */
interface DocxTag {
  value: string;
  module?: string;
}

export interface ScopeManager {
  /** From the outermost scope to the innermost. */
  scopeList: readonly unknown[];
}

interface DocxOptions {
  paragraphLoop: boolean;
  linebreaks: boolean;
  /** `num` is the position of the queried scope. */
  parser(tag: string): { get(scope: unknown, scopes: ScopeManager & { num: number }): unknown };
  nullGetter(tag: DocxTag, scopes: ScopeManager): unknown;
}

interface Zip {
  generate(options: { type: 'uint8array'; compression: 'DEFLATE' }): Uint8Array;
}

export interface Docxtemplater {
  new (zip: Zip, options: DocxOptions): DocxFile;
}

export interface DocxFile {
  fileType: string;
  /** The parts of the file that may have tags, by their paths. */
  compiled: Readonly<Record<string, { content: string; postparsed: readonly DocxPart[] }>>;
  render(data: object): void;
  getZip(): Zip;
}

/** A tag of the template, a tag of XML, or the text between them. */
export interface DocxPart {
  type: string;
  value: string;
  /** The kind of a tag of the template. */
  module?: string;
  /** The contents of a loop. */
  subparsed?: readonly DocxPart[];
}

export type PizZip = new (content: Uint8Array) => Zip;

/** An error of a tag, or of several. */
export interface DocxError {
  message: string;
  properties?: { id?: string; xtag?: string; explanation?: string; rootError?: Error; errors?: readonly DocxError[] };
}
