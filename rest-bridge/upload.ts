import { Readable } from 'node:stream';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { coerceInputValue, getNullableType, isInputObjectType, isListType, type GraphQLInputType } from 'graphql';
import { badInput, ApiError, defineError, tooLarge } from '../src/core/errors.ts';
import type { IncomingFile } from '../src/core/files.ts';
import { checkTexts } from '../src/core/input-text.ts';
import { createTextParser, InvalidText } from './argument-parsers.ts';
import type { Call } from './call.ts';
import type { RequestParser } from './request-variables.ts';
import type { Json } from './route.ts';

const notAForm = defineError(415, 'UNSUPPORTED_MEDIA_TYPE', () => 'A file must be sent as multipart/form-data');

/** Maximum number of text parts of a form, and maximum bytes of each. */
const MAX_TEXTS = 40;
const MAX_TEXT_BYTES = 128 * 1024;
/** Upper bound of everything in a form but the file: texts, names, boundaries. */
const MAX_BYTES_BESIDE_FILE = MAX_TEXTS * (MAX_TEXT_BYTES + 1024);
const LIMITS = {
  fileSize: Infinity,
  files: 5,
  fields: MAX_TEXTS,
  parts: MAX_TEXTS + 5,
  fieldSize: MAX_TEXT_BYTES,
  fieldNameSize: 100,
};

type Parts = ReturnType<FastifyRequest['parts']>;

/** A form, read up to its file. */
interface UploadForm {
  /** The body of the row: texts by their names, and the first file part as `file`. */
  body: Json;
  /** Discards the unread rest of the form. */
  end(): void;
}

/**
 * Reads the form of a request up to its file. Texts after the file belong to the input as well: `wholeInput` of the
 * file reads them. Throws 400 for a malformed form, 413 for a text that is too long, 415 for a request that is not a form.
 */
type ReadForm = (request: FastifyRequest, params: Call['params']) => Promise<UploadForm>;

/**
 * Creates the reader of a row's forms. Texts are converted to the types of the arguments of their names. Empty texts
 * are ignored.
 */
export function createFormReader(parser: RequestParser): ReadForm {
  const { bodyArgument, keyArguments } = parser.body;
  const input = bodyArgument && getNullableType(bodyArgument.type);
  const types = new Map<string, GraphQLInputType>([
    ...(isInputObjectType(input)
      ? Object.values(input.getFields()).map(({ name, type }) => [name, type] as const)
      : []),
    ...keyArguments.map(({ key, slot }) => [key, slot.type] as const),
  ]);

  return async (request, params) => {
    if (!request.isMultipart()) throw notAForm(undefined, { headers: { accept: 'multipart/form-data' } });
    const parts = openParts(request);
    // The unread rest is received all the same: a client that is still sending may not read the response otherwise.
    const end = () => {
      request.raw.unpipe().resume();
    };
    try {
      const body: Json = {};
      const part = await readUntilFile(parts, body, types);
      if (!part) throw badInput('The form has no file');
      const announcedBytes = Number(request.headers['content-length'] ?? 0) - MAX_BYTES_BESIDE_FILE;
      const file: IncomingFile = {
        filename: part.filename || null,
        contentType: part.mimetype,
        minSize: Math.max(0, announcedBytes || 0),
        content: readContent(part.file),
        async wholeInput() {
          for (let next = await readUntilFile(parts, body, types); next; next = await readUntilFile(parts, body, types))
            next.file.resume();
          return coerceBody(parser, body, params);
        },
      };
      body['file'] = file;
      return { body, end };
    } catch (error) {
      end();
      throw error;
    }
  };
}

/** Creates a reader that takes a body other than a form as the file itself. */
export const createFileReader =
  (readForm: ReadForm): ReadForm =>
  async (request, params) => {
    if (request.isMultipart()) return readForm(request, params);
    const { headers, body } = request;
    const file: IncomingFile = {
      filename: null,
      contentType: headers['content-type'] ?? 'application/octet-stream',
      minSize: Number(headers['content-length'] ?? 0) || 0,
      // Not destroyed when it is refused: the rest of the body would stay in the socket, which would never close.
      content: body instanceof Readable ? body.iterator({ destroyOnReturn: false }) : Readable.from([]),
    };
    return { body: { file }, end: () => request.raw.resume() };
  };

/** Returns the input and the single arguments of a complete body, coerced as GraphQL does. */
function coerceBody(parser: RequestParser, body: Json, params: Call['params']): Json {
  const { bodyArgument, keyArguments } = parser.body;
  const { variables } = parser.parse({ url: '', params, query: {}, body });
  const singles = keyArguments.flatMap(({ key, slot }) =>
    variables[slot.variable] === undefined ? [] : [[key, variables[slot.variable]] as const],
  );
  const inputFields = coerceInputValue(
    variables[bodyArgument!.variable],
    bodyArgument!.type,
    (_path, _value, error) => {
      throw parser.toError(variables, error.message);
    },
  ) as Json;
  return { ...inputFields, ...Object.fromEntries(singles) };
}

/** Returns the parts of a form, in order. Throws 400 for a malformed one. */
function openParts(request: FastifyRequest): Parts {
  try {
    return request.parts({ limits: LIMITS, defParamCharset: 'utf8' } as Parameters<FastifyRequest['parts']>[0]);
  } catch (error) {
    throw toFormError(error);
  }
}

/** Reads texts into `body` up to the next file. Returns the file, undefined at the end of the form. */
async function readUntilFile(
  parts: Parts,
  body: Json,
  types: ReadonlyMap<string, GraphQLInputType>,
): Promise<MultipartFile | undefined> {
  for (;;) {
    const { value: part, done } = await parts.next().catch((error: unknown) => {
      throw toFormError(error);
    });
    if (done) return undefined;
    if (part.type === 'file') return part;
    const { fieldname: name, value, valueTruncated } = part;
    if (valueTruncated) throw tooLarge(`"${name}" is longer than ${MAX_TEXT_BYTES} bytes`);
    if (name === 'file' || Object.hasOwn(body, name))
      throw badInput(name === 'file' ? '"file" must be a file' : `"${name}" is given more than once`);
    if (value !== '') body[name] = parseFormText(name, value, types.get(name));
  }
}

/**
 * Converts a text of the form to the type of its argument. A text without an argument stays as it is: the row refuses
 * unknown keys.
 */
function parseFormText(name: string, value: unknown, type: GraphQLInputType | undefined): unknown {
  if (type === undefined || typeof value !== 'string') return value;
  try {
    const parsed: unknown = isListType(getNullableType(type)) ? JSON.parse(value) : createTextParser(type)(value);
    checkTexts(parsed, [name]);
    return parsed;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badInput(`"${name}" ${error instanceof InvalidText ? error.message : 'is not well-formed JSON'}`);
  }
}

/** Yields the bytes of a file. Throws 400 when the form ends early. */
async function* readContent(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    throw toFormError(error);
  }
}

/** Converts an error of the form parser to 400, unless it has a status already. */
function toFormError(error: unknown): unknown {
  const { statusCode } = error as { statusCode?: number };
  // 406 is a text whose part says that it is JSON, and is not.
  if (error instanceof ApiError || (statusCode !== undefined && statusCode !== 406)) return error;
  return badInput(`The form is malformed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
