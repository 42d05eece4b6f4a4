/** Handlers of the elements and texts of a document, called in its order. Names are without prefixes. */
export interface XmlHandlers {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
}

const MARKS: [bytes: string, encoding: string][] = [
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
];

/**
 * Reads a document of any size, and yields the result of `take` after each chunk. Throws for a document that is not
 * well-formed, or defines entities.
 */
export async function* readXml<T>(
  chunks: AsyncIterable<Buffer>,
  { open, close, text }: XmlHandlers,
  take: () => T,
): AsyncGenerator<T> {
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => open(localName(name), attributes));
  parser.on('closetag', ({ name }) => close(localName(name)));
  parser.on('text', text);
  parser.on('cdata', text);
  let decoder: TextDecoder | undefined;
  for await (const chunk of chunks) {
    const start = chunk.toString('latin1', 0, 2);
    decoder ??= new TextDecoder(MARKS.find(([mark]) => start === mark)?.[1] ?? 'utf-8');
    parser.write(decoder.decode(chunk, { stream: true }));
    yield take();
  }
  parser.write(decoder?.decode() ?? '').close();
  yield take();
}

/** Reads a document to its end. */
export async function readWholeXml(chunks: AsyncIterable<Buffer>, handlers: Partial<XmlHandlers>): Promise<void> {
  const ignore = () => undefined;
  const reading = readXml(chunks, { open: ignore, close: ignore, text: ignore, ...handlers }, ignore);
  while (!(await reading.next()).done);
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
