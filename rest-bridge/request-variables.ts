import { isNonNullType } from 'graphql';
import { badInput, notFound, type ApiError } from '../src/core/errors.ts';
import { ruleOf } from '../src/core/input-rules.ts';
import { checkTexts } from '../src/core/input-text.ts';
import { findIssues } from './argument-issues.ts';
import { createRepeatedParser, createTextParser, InvalidText, type TextParser } from './argument-parsers.ts';
import type { Call } from './call.ts';
import type { RowPlan, ArgumentSlot } from './document.ts';
import { createBodyReader, type BodyRules } from './request-body.ts';
import type { Json, Row } from './route.ts';

/** The GraphQL variables of one request, and the identity fields that its body contains. */
interface RequestVariables {
  variables: Json;
  identityFields: Json | undefined;
}

/** Turns the requests of one row into variables. */
export interface RequestParser {
  /** Returns the variables of a request. Throws 400, or 404 for a path parameter that does not fit its type. */
  parse(call: Pick<Call, 'url' | 'params' | 'query' | 'body'>): RequestVariables;
  /** Returns the error for variables that GraphQL refused with `message`. */
  toError(variables: Readonly<Json>, message: string): ApiError;
  /** Arguments by their keys in the query string. The OpenAPI document lists them. */
  query: ReadonlyMap<string, ArgumentSlot>;
  body: Omit<BodyRules, 'row'>;
}

/** How a value of the path or query string becomes a variable. */
interface TextTarget {
  variable: string;
  parseOne: TextParser;
  parseRepeated: (texts: readonly string[]) => unknown;
}
interface PathTarget extends TextTarget {
  parameter: string;
  /** Name of the field that the parameter identifies, which a 404 names. */
  what: string;
}
interface ArgumentPlaces extends Pick<BodyRules, 'bodyArgument' | 'keyArguments'> {
  query: Map<string, ArgumentSlot>;
}

/**
 * Divides a row's arguments between query string and body. `waits` marks a long mutation, whose argument `wait` the
 * bridge itself sets from the header `Prefer`.
 */
function divideArguments({ options, method }: Row, { slots, bound, chain }: RowPlan, waits: boolean): ArgumentPlaces {
  const external = new Map(Object.entries(options.rename ?? {}).map(([key, argument]) => [argument, key]));
  const inPath = new Set(bound.values());
  const open = slots.filter(
    (slot) =>
      !inPath.has(slot) &&
      slot.segment === chain.length - 1 &&
      !(slot.argument.name in (options.fixed ?? {})) &&
      slot.argument.name !== options.queryText &&
      !(waits && slot.argument.name === 'wait'),
  );
  const hasBody = method === 'POST' || method === 'PUT';
  const isInQuery = ({ argument }: ArgumentSlot) => !hasBody || options.query?.includes(argument.name) === true;
  const bodyArgument = hasBody ? open.find(({ argument }) => argument.name === (options.body ?? 'input')) : undefined;
  const keyed = open
    .filter((slot) => slot !== bodyArgument)
    .map((slot) => ({ key: external.get(slot.argument.name) ?? slot.argument.name, slot }));
  return {
    query: new Map(keyed.filter(({ slot }) => isInQuery(slot)).map(({ key, slot }) => [key, slot])),
    bodyArgument,
    keyArguments: keyed.filter(({ slot }) => !isInQuery(slot)),
  };
}

const invalidKey = (key: string, message: string, code = 'invalid'): ApiError =>
  badInput(message, { validation: [{ path: [key], message, code }] });

function parseText(key: string, text: string | string[], { parseOne, parseRepeated }: TextTarget): unknown {
  try {
    const value = typeof text === 'string' ? parseOne(text) : parseRepeated(text);
    checkTexts(value, [key]);
    return value;
  } catch (error) {
    throw error instanceof InvalidText ? invalidKey(key, `"${key}" ${error.message}`) : error;
  }
}

const createTarget = ({ variable, type }: ArgumentSlot): TextTarget => ({
  variable,
  parseOne: createTextParser(type),
  parseRepeated: createRepeatedParser(type),
});

const createPathTargets = ({ bound, chain }: RowPlan): PathTarget[] =>
  [...bound].map(([parameter, slot]) => ({ parameter, what: chain[slot.segment]!.name, ...createTarget(slot) }));

/** Returns the variables of the arguments that the row itself fixes. */
const fixedVariables = (fixed: Readonly<Json> = {}, { slots }: RowPlan): Json =>
  Object.fromEntries(
    slots
      .filter(({ argument }) => argument.name in fixed)
      .map(({ variable, argument }) => [variable, fixed[argument.name]]),
  );

/** Creates the parser of a row's path, query string and body. */
export function createRequestParser(
  row: Row,
  plan: RowPlan,
  waits: boolean,
  exceptions: Pick<BodyRules, 'ignored' | 'identity'>,
): RequestParser {
  const places = divideArguments(row, plan, waits);
  const { bodyArgument, keyArguments } = places;
  const queryTargets = new Map([...places.query].map(([key, slot]) => [key, createTarget(slot)]));
  const pathTargets = createPathTargets(plan);
  const fixed = fixedVariables(row.options.fixed, plan);
  const readBody = createBodyReader({ row, bodyArgument, keyArguments, ...exceptions });
  return {
    query: places.query,
    body: { bodyArgument, keyArguments, ...exceptions },
    parse({ url, params, query, body }) {
      const variables: Json = { ...fixed };
      const { queryText } = row.options;
      if (queryText !== undefined) variables[queryText] = /\?(.*)$/s.exec(url)?.[1] ?? '';
      const sent = queryText === undefined ? query : {};
      for (const { parameter, variable, parseOne, what } of pathTargets) {
        try {
          variables[variable] = parseOne(params[parameter]!);
        } catch {
          throw notFound({ what, id: params[parameter]! });
        }
      }
      for (const key in sent) {
        const target = queryTargets.get(key);
        if (!target) throw invalidKey(key, `Unknown query parameter ${JSON.stringify(key)}`, 'unknown');
        variables[target.variable] = parseText(key, sent[key]!, target);
      }
      return { variables, identityFields: readBody(body, params, variables) };
    },
    toError: (variables, message) => toRequestError(places, pathTargets, variables, message),
  };
}

const toArgumentValue = ({ variable, type, argument }: ArgumentSlot, variables: Readonly<Json>) => ({
  type,
  rule: ruleOf(argument),
  value: variables[variable],
});

/** Returns 400 with the values that do not fit, or 404 when it is a path parameter that does not. */
function toRequestError(
  { query, bodyArgument, keyArguments }: ArgumentPlaces,
  pathTargets: readonly PathTarget[],
  variables: Readonly<Json>,
  message: string,
): ApiError {
  const keyed = [...query].map(([key, slot]) => ({ key, slot })).concat(keyArguments);
  const values = [
    ...keyed.map(({ key, slot }) => ({ path: [key], name: key, ...toArgumentValue(slot, variables) })),
    ...(bodyArgument ? [{ path: [], name: 'body', ...toArgumentValue(bodyArgument, variables) }] : []),
  ];
  const validation = findIssues(values.filter(({ type, value }) => value !== undefined || isNonNullType(type)));
  const invalidParameter =
    validation.length === 0 ? pathTargets.find(({ variable }) => message.includes(`"$${variable}"`)) : undefined;
  if (invalidParameter)
    return notFound({ what: invalidParameter.what, id: String(variables[invalidParameter.variable]) });
  return badInput(validation[0]?.message ?? message, { validation });
}
