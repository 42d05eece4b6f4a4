import { getNullableType, isInputObjectType } from 'graphql';
import { badInput, type ValidationIssue } from '../src/core/errors.ts';
import { createJsonDecoder, type JsonDecoder } from './argument-parsers.ts';
import type { ArgumentSlot } from './document.ts';
import type { Json, Row } from './route.ts';

/** Which keys a row's body may have, and where they go. */
export interface BodyRules {
  row: Row;
  /** The argument that takes the body, and those that take single keys of it. */
  whole: ArgumentSlot | undefined;
  single: readonly { key: string; slot: ArgumentSlot }[];
  /** PUT: keys that answers of ours contain and that are not looked at; keys that may be sent, but not changed. */
  ignored: ReadonlySet<string>;
  identity: ReadonlySet<string>;
}

/** Puts the body's values into the variables. Answers the identity fields that were sent, undefined when there are none. */
export type ReadBody = (body: unknown, params: Readonly<Record<string, string>>, variables: Json) => Json | undefined;

const isJsonObject = (body: unknown): body is Json => typeof body === 'object' && body !== null && !Array.isArray(body);

/** Compiles a row's rules of the body. */
export function createBodyReader({ row, whole, single, ignored, identity }: BodyRules): ReadBody {
  const wholeType = whole && getNullableType(whole.type);
  const wholeReader = whole && createJsonDecoder(whole.type);
  const { map } = row.options;
  if (whole && !isInputObjectType(wholeType)) {
    return (body, params, variables) => {
      if (body !== undefined)
        variables[whole.variable] = map && isJsonObject(body) ? map(body, params) : wholeReader ? wholeReader(body) : body;
      return undefined;
    };
  }
  const fields = new Set(isInputObjectType(wholeType) ? Object.keys(wholeType.getFields()) : []);
  const alone = new Map<string, { variable: string; read: JsonDecoder | undefined }>(
    single.map(({ key, slot }) => [key, { variable: slot.variable, read: createJsonDecoder(slot.type) }]),
  );
  return (sent, params, variables) => {
    if (sent !== undefined && !isJsonObject(sent)) throw badInput('The body must be a JSON object');
    const body = sent === undefined ? {} : map ? map(sent, params) : sent;
    const input: Json = {};
    const issues: ValidationIssue[] = [];
    let identityFields: Json | undefined;
    for (const key of Object.keys(body)) {
      const target = alone.get(key);
      if (fields.has(key)) input[key] = body[key];
      else if (target) variables[target.variable] = target.read ? target.read(body[key]) : body[key];
      else if (identity.has(key)) (identityFields ??= {})[key] = body[key];
      else if (!ignored.has(key)) issues.push(...checkUnexpectedKey(key, body[key], params));
    }
    if (issues.length > 0) throw badInput(issues[0]!.message, { validation: issues.slice(0, 20) });
    if (whole && (sent !== undefined || whole.type !== wholeType))
      variables[whole.variable] = wholeReader ? wholeReader(input) : input;
    return identityFields;
  };
}

/** A key that repeats the path is fine as long as it says the same (contract 7, `reportId`). */
function checkUnexpectedKey(key: string, value: unknown, params: Readonly<Record<string, string>>): ValidationIssue[] {
  if (!Object.hasOwn(params, key)) return [{ path: [key], message: `Unknown key "${key}"`, code: 'unknown' }];
  return String(value) === params[key] ? [] : [{ path: [key], message: `"${key}" is not the path's`, code: 'invalid' }];
}
