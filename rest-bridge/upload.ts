import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { coerceInputValue, getNullableType, isInputObjectType, isListType, type GraphQLInputType } from 'graphql';
import { badInput, ApiError, defineError, tooLarge } from '../src/core/errors.ts';
import type { IncomingFile } from '../src/core/files.ts';
import { textReader, Unreadable } from './arguments.ts';
import type { Call } from './call.ts';
import type { Reader } from './request-variables.ts';
import type { Json } from './route.ts';

const noForm = defineError(415, 'UNSUPPORTED_MEDIA_TYPE', () => 'A file comes as multipart/form-data');

/** Text parts of a form: how many, and how many bytes in each. */
const MAX_TEXTS = 40;
const MAX_TEXT_BYTES = 128 * 1024;
/** What is not the file: texts, names, boundaries. */
const MAX_BESIDE_FILE = MAX_TEXTS * (MAX_TEXT_BYTES + 1024);
const LIMITS = {
  fileSize: Infinity,
  files: 5,
  fields: MAX_TEXTS,
  parts: MAX_TEXTS + 5,
  fieldSize: MAX_TEXT_BYTES,
  fieldNameSize: 100,
};

type Parts = ReturnType<FastifyRequest['parts']>;

/** A form as the row's body: its texts by name, and under `file` the first file part. `end` lets go of what nobody read. */
export interface Form {
  body: Json;
  end(): void;
}

/** Reads the form of a request up to its file. What the form says behind it belongs to the input as well, so the file brings that along. */
export type FormReader = (request: FastifyRequest, params: Call['params']) => Promise<Form>;

/** Compiles how a row reads a form. Texts become what the arguments of their names want; a text without content is none. */
export function formReader(reader: Reader): FormReader {
  const { whole, single } = reader.body;
  const input = whole && getNullableType(whole.type);
  const types = new Map<string, GraphQLInputType>([
    ...(isInputObjectType(input)
      ? Object.values(input.getFields()).map(({ name, type }) => [name, type] as const)
      : []),
    ...single.map(({ key, slot }) => [key, slot.type] as const),
  ]);

  /** The input and the single arguments of a whole body, as GraphQL would have made them. */
  const coerced = (body: Json, params: Call['params']): Json => {
    const { variables } = reader.read({ params, query: {}, body });
    const singles = single.flatMap(({ key, slot }) =>
      variables[slot.variable] === undefined ? [] : [[key, variables[slot.variable]] as const],
    );
    const made = coerceInputValue(variables[whole!.variable], whole!.type, (_path, _value, error) => {
      throw reader.explain(variables, error.message);
    }) as Json;
    return { ...made, ...Object.fromEntries(singles) };
  };

  return async (request, params) => {
    if (!request.isMultipart()) throw noForm();
    const parts = open(request);
    // What nobody read is taken off the wire all the same: a client that still sends may not hear the answer otherwise.
    const end = () => {
      request.raw.unpipe().resume();
    };
    try {
      const body: Json = {};
      const part = await untilFile(parts, body, types);
      if (!part) throw badInput('The form has no file');
      const announced = Number(request.headers['content-length'] ?? 0) - MAX_BESIDE_FILE;
      const file: IncomingFile = {
        filename: part.filename || null,
        contentType: part.mimetype,
        minSize: Math.max(0, announced || 0),
        content: checked(part.file),
        async wholeInput() {
          for (let next = await untilFile(parts, body, types); next; next = await untilFile(parts, body, types))
            next.file.resume();
          return coerced(body, params);
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

/** The parts of a form, in order. A form that is none is 400. */
function open(request: FastifyRequest): Parts {
  try {
    return request.parts({ limits: LIMITS, defParamCharset: 'utf8' } as Parameters<FastifyRequest['parts']>[0]);
  } catch (error) {
    throw broken(error);
  }
}

/** Reads texts into `body` until a file comes; undefined when none does. */
async function untilFile(
  parts: Parts,
  body: Json,
  types: ReadonlyMap<string, GraphQLInputType>,
): Promise<MultipartFile | undefined> {
  for (;;) {
    const { value: part, done } = await parts.next().catch((error: unknown) => {
      throw broken(error);
    });
    if (done) return undefined;
    if (part.type === 'file') return part;
    const { fieldname: name, value, valueTruncated } = part;
    if (valueTruncated) throw tooLarge(`"${name}" is longer than ${MAX_TEXT_BYTES} bytes`);
    if (name === 'file' || Object.hasOwn(body, name))
      throw badInput(name === 'file' ? '"file" must be a file' : `"${name}" is given more than once`);
    if (value !== '') body[name] = valueOf(name, value, types.get(name));
  }
}

/** What a text of the form says, by the type that its name has in the input. What the input does not know is refused by the row's own rules. */
function valueOf(name: string, value: unknown, type: GraphQLInputType | undefined): unknown {
  if (type === undefined || typeof value !== 'string') return value;
  try {
    return isListType(getNullableType(type)) ? (JSON.parse(value) as unknown) : textReader(type)(value);
  } catch (error) {
    throw badInput(`"${name}" ${error instanceof Unreadable ? error.message : 'is not well-formed JSON'}`);
  }
}

/** A file's bytes; a form that breaks off is the client's mistake. */
async function* checked(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    throw broken(error);
  }
}

/** What the parser of forms complains of. What it has a status for keeps it. */
function broken(error: unknown): unknown {
  if (error instanceof ApiError || (error as { statusCode?: number }).statusCode) return error;
  return badInput(`The form is malformed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
