import { getNullableType, isInputObjectType, isNonNullType } from 'graphql';
import { badInput, type ValidationIssue } from '../src/core/errors.ts';
import { throwIssues } from '../src/core/input-checks.ts';
import { ruleOf } from '../src/core/input-rules.ts';
import type { ArgumentSlot } from './document.ts';
import { createJsonReader, type JsonReader } from './json-reader.ts';
import { toLists } from './keyed-lists.ts';
import type { Json, Row } from './route.ts';

type PathParameters = Readonly<Record<string, string>>;

/** The keys that the body of a row may have, and the arguments that take them. */
export interface BodyRules {
  row: Row;
  /** The argument whose value is the whole body. */
  bodyArgument: ArgumentSlot | undefined;
  /** The arguments whose values are single keys of the body. */
  keyArguments: readonly { key: string; slot: ArgumentSlot }[];
  /** PUT: keys of our own responses that are ignored. */
  ignored: ReadonlySet<string>;
  /** PUT: keys that may be sent, but not changed. */
  identity: ReadonlySet<string>;
}

/**
 * Copies the values of a body into the variables. Returns the identity fields that were sent, undefined when there are
 * none. Throws 400 for unknown keys and for a body that is not an object.
 */
type ReadBody = (body: unknown, params: PathParameters, variables: Json) => Json | undefined;

const isJsonObject = (body: unknown): body is Json => typeof body === 'object' && body !== null && !Array.isArray(body);

/** Creates the reader of a row's body. */
export function createBodyReader(rules: BodyRules): ReadBody {
  const { bodyArgument } = rules;
  return bodyArgument && !isInputObjectType(getNullableType(bodyArgument.type))
    ? createValueReader(rules.row, bodyArgument)
    : createObjectReader(rules);
}

/** The body is one value: an argument that is not an input object takes it. */
function createValueReader({ options: { map } }: Row, { variable, type, argument }: ArgumentSlot): ReadBody {
  const read = createJsonReader(type, ruleOf(argument));
  return (body, params, variables) => {
    if (body === undefined) return undefined;
    const issues: ValidationIssue[] = [];
    const mapped = map && isJsonObject(body) ? map(body, params) : body;
    variables[variable] = read ? read(mapped, [], issues) : mapped;
    throwIssues(issues);
    return undefined;
  };
}

/** The body is an object: its keys are fields of the input, or arguments of their own. */
function createObjectReader({ row, bodyArgument, keyArguments, ignored, identity }: BodyRules): ReadBody {
  const bodyType = bodyArgument && getNullableType(bodyArgument.type);
  const readBody = bodyArgument && createJsonReader(bodyArgument.type);
  const isRequired = bodyArgument !== undefined && isNonNullType(bodyArgument.type);
  const { map, keyed } = row.options;
  const inputFields = new Set(isInputObjectType(bodyType) ? Object.keys(bodyType.getFields()) : []);
  const targets = new Map<string, { variable: string; read: JsonReader | undefined }>(
    keyArguments.map(({ key, slot }) => [
      key,
      { variable: slot.variable, read: createJsonReader(slot.type, ruleOf(slot.argument)) },
    ]),
  );
  return (sent, params, variables) => {
    if (sent === undefined && isRequired) throwIssues([{ path: [], message: '"body" is required', code: 'required' }]);
    if (sent !== undefined && !isJsonObject(sent)) throw badInput('The body must be a JSON object');
    const mapped = sent === undefined ? {} : map ? map(sent, params) : sent;
    const body = keyed ? toLists(keyed, mapped) : mapped;
    const input: Json = {};
    const issues: ValidationIssue[] = [];
    let identityFields: Json | undefined;
    for (const key of Object.keys(body)) {
      const target = targets.get(key);
      if (inputFields.has(key)) input[key] = body[key];
      else if (target) variables[target.variable] = target.read ? target.read(body[key], [key], issues) : body[key];
      else if (identity.has(key)) (identityFields ??= {})[key] = body[key];
      else if (!ignored.has(key)) issues.push(...checkUnexpectedKey(key, body[key], params));
    }
    if (bodyArgument && sent !== undefined)
      variables[bodyArgument.variable] = readBody ? readBody(input, [], issues) : input;
    throwIssues(issues);
    return identityFields;
  };
}

/** Returns the issue of a key that nothing takes. A key that repeats a path parameter is valid with the same value. */
function checkUnexpectedKey(key: string, value: unknown, params: PathParameters): ValidationIssue[] {
  if (!Object.hasOwn(params, key))
    return [{ path: [key], message: `Unknown key ${JSON.stringify(key)}`, code: 'unknown' }];
  if (String(value) === params[key]) return [];
  return [{ path: [key], message: `"${key}" must equal the value in the path`, code: 'invalid' }];
}
