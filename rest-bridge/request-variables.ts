import { isNonNullType } from 'graphql';
import { badInput, notFound, type ApiError } from '../src/core/errors.ts';
import { findIssues, createRepeatedParser, createTextParser, InvalidText, type TextParser } from './argument-parsers.ts';
import { createBodyReader, type BodyRules } from './request-body.ts';
import type { Call } from './call.ts';
import type { RowPlan, ArgumentSlot } from './document.ts';
import type { Json, Row } from './route.ts';

/** The variables of one request, and the identity fields that its body holds. */
export interface RequestVariables {
  variables: Json;
  identityFields: Json | undefined;
}

/** Compiled way from a request to variables. `explain` says why GraphQL refused them. */
export interface RequestParser {
  parse(call: Pick<Call, 'params' | 'query' | 'body'>): RequestVariables;
  toError(variables: Readonly<Json>, message: string): ApiError;
  /** Keys of the query string, with their slots: for the OpenAPI document. */
  query: ReadonlyMap<string, ArgumentSlot>;
  body: Pick<BodyRules, 'whole' | 'single'>;
}

interface QueryTarget {
  variable: string;
  one: TextParser;
  many: (texts: readonly string[]) => unknown;
}

/** Divides a row's arguments among query string and body. `wait` of a long mutation is the bridge's own (`Prefer`). */
function divideArguments(
  { options, method }: Row,
  { slots, bound, chain }: RowPlan,
  waits: boolean,
): { query: Map<string, ArgumentSlot>; whole: ArgumentSlot | undefined; single: { key: string; slot: ArgumentSlot }[] } {
  const external = new Map(Object.entries(options.rename ?? {}).map(([key, argument]) => [argument, key]));
  const taken = new Set(bound.values());
  const open = slots.filter(
    (slot) =>
      !taken.has(slot) &&
      slot.segment === chain.length - 1 &&
      !(slot.argument.name in (options.fixed ?? {})) &&
      !(waits && slot.argument.name === 'wait'),
  );
  const bodied = method === 'POST' || method === 'PUT';
  const fromQuery = ({ argument }: ArgumentSlot) => !bodied || options.query?.includes(argument.name) === true;
  const whole = bodied ? open.find(({ argument }) => argument.name === (options.body ?? 'input')) : undefined;
  const keyed = open
    .filter((slot) => slot !== whole)
    .map((slot) => ({ key: external.get(slot.argument.name) ?? slot.argument.name, slot }));
  return {
    query: new Map(keyed.filter(({ slot }) => fromQuery(slot)).map(({ key, slot }) => [key, slot])),
    whole,
    single: keyed.filter(({ slot }) => !fromQuery(slot)),
  };
}

const invalidKey = (key: string, message: string, code = 'invalid'): ApiError =>
  badInput(message, { validation: [{ path: [key], message, code }] });

function parseText(key: string, text: string | string[], { one, many }: Pick<QueryTarget, 'one' | 'many'>): unknown {
  try {
    return typeof text === 'string' ? one(text) : many(text);
  } catch (error) {
    throw error instanceof InvalidText ? invalidKey(key, `"${key}" ${error.message}`) : error;
  }
}

const createTarget = ({ variable, type }: ArgumentSlot): QueryTarget => ({ variable, one: createTextParser(type), many: createRepeatedParser(type) });

/** Compiles how a row reads its path, query string and body. */
export function createRequestParser(
  row: Row,
  plan: RowPlan,
  waits: boolean,
  tolerance: Pick<BodyRules, 'ignored' | 'identity'>,
): RequestParser {
  const { query, whole, single } = divideArguments(row, plan, waits);
  const queries = new Map([...query].map(([key, slot]) => [key, createTarget(slot)]));
  const paths = [...plan.bound].map(([parameter, slot]) => ({
    parameter,
    what: plan.chain[slot.segment]!.name,
    ...createTarget(slot),
  }));
  const fixed = Object.fromEntries(
    plan.slots
      .filter(({ argument }) => argument.name in (row.options.fixed ?? {}))
      .map((slot) => [slot.variable, row.options.fixed![slot.argument.name]]),
  );
  const readBody = createBodyReader({ row, whole, single, ...tolerance });
  return {
    query,
    body: { whole, single },
    parse({ params, query: sent, body }) {
      const variables: Json = { ...fixed };
      for (const { parameter, variable, one, what } of paths) {
        try {
          variables[variable] = one(params[parameter]!);
        } catch {
          throw notFound({ what, id: params[parameter]! });
        }
      }
      for (const key in sent) {
        const known = queries.get(key);
        if (!known) throw invalidKey(key, `Unknown query parameter "${key}"`, 'unknown');
        variables[known.variable] = parseText(key, sent[key]!, known);
      }
      return { variables, identityFields: readBody(body, params, variables) };
    },
    toError(variables, message) {
      const named = [...query].map(([key, slot]) => ({ key, slot })).concat(single);
      const values = [
        ...named.map(({ key, slot }) => ({ key, type: slot.type, value: variables[slot.variable] })),
        ...(whole ? [{ key: undefined, type: whole.type, value: variables[whole.variable] }] : []),
      ];
      const validation = findIssues(values.filter(({ type, value }) => value !== undefined || isNonNullType(type)));
      const unfit =
        validation.length === 0 ? paths.find(({ variable }) => message.includes(`"$${variable}"`)) : undefined;
      if (unfit) return notFound({ what: unfit.what, id: String(variables[unfit.variable]) });
      return badInput(validation[0]?.message ?? message, { validation });
    },
  };
}
