import { handlerCrypto } from './handler-crypto.ts';
import { createDatabase, type Call } from './handler-database.ts';
import { createFetch } from './handler-fetch.ts';
import { createRequest, type RequestInput } from './handler-request.ts';
import { createResponder, isResponse, packResponse, type PackedResponse, type Responder } from './handler-response.ts';
import { native } from './native.ts';
import { isBytes, viewOf } from './web-text.ts';

/** The input of a handler from the service. */
interface HandlerInput {
  request: RequestInput;
  body: Uint8Array;
  context: object;
  env: object;
}

type Calls = Record<string, Call>;
type MarkdownLibrary = new (options: { html: boolean }) => { render(text: string): string };

/** Adds `handle(handler, input, markdown)`, which calls the handler of a request, to the host calls of a program. */
export function createHandlerHost(host: object): object {
  const calls = host as Calls;
  const handle = async (
    handler: (argument: object) => unknown,
    input: HandlerInput,
    Markdown?: MarkdownLibrary,
  ): Promise<PackedResponse> => {
    const responder = createResponder((frame) => calls['respond']!(frame));
    let value: unknown;
    try {
      value = await handler(createArgument(calls, responder, input, Markdown));
    } catch (error) {
      await responder.settle();
      if (!isResponse(error)) throw error;
      value = error;
    }
    return packResponse(await responder.end(value));
  };
  return { ...host, handle };
}

/** Creates the one argument of handlers. */
function createArgument(
  calls: Calls,
  { respond }: Responder,
  { request, body, context, env }: HandlerInput,
  Markdown: MarkdownLibrary | undefined,
): object {
  const { info, debug, warn, error } = console;
  return {
    ...createDatabase(calls as Calls & Record<'query' | 'begin' | 'commit' | 'rollBack', Call>),
    fetch: createFetch((frame) => calls['fetch']!(frame)),
    context,
    respond,
    emit: async (name: unknown, payload?: unknown) => calls['emit']!([name, payload]),
    notify: async (principals: unknown, notification?: unknown) => calls['notify']!([principals, notification]),
    email: async (mail: unknown) => calls['email']!(mail),
    crypto: handlerCrypto,
    markdown: createMarkdown(Markdown),
    log: Object.assign((...values: unknown[]) => info(...values), { info, debug, warn, error }),
    env,
    base64Encode: (value: unknown) => native('toBase64', isBytes(value) ? viewOf(value) : String(value)),
    base64Decode: (text: unknown, as?: unknown) => decodeBase64(text, as),
    request: createRequest(request, body),
  };
}

function decodeBase64(text: unknown, as: unknown): unknown {
  const bytes = native('fromBase64', String(text));
  if (bytes === null) throw new TypeError('base64Decode() takes a text in Base64');
  return as === 'bytes' ? bytes : native('decode', bytes, 'utf-8', false, true);
}

function createMarkdown(Library: MarkdownLibrary | undefined): (text: unknown) => string {
  let renderer: { render(text: string): string } | undefined;
  return (text) => {
    if (!Library) throw new Error('The name markdown must occur in the code, so that its library is loaded');
    renderer ??= new Library({ html: false });
    return renderer.render(String(text ?? ''));
  };
}
