import { isNonNullType } from 'graphql';
import { badInput, notFound, type ApiError } from '../src/core/errors.ts';
import { complaints, repeatedReader, textReader, Unreadable, type TextReader } from './arguments.ts';
import { bodyReader, type BodyRules } from './body.ts';
import type { Call } from './call.ts';
import type { Plan, Slot } from './document.ts';
import type { Json, Row } from './route.ts';

/** The variables of one request, and the identity fields that its body holds. */
export interface Read {
  variables: Json;
  held: Json | undefined;
}

/** Compiled way from a request to variables. `explain` says why GraphQL refused them. */
export interface Reader {
  read(call: Pick<Call, 'params' | 'query' | 'body'>): Read;
  explain(variables: Readonly<Json>, message: string): ApiError;
  /** Keys of the query string, with their slots: for the OpenAPI document. */
  query: ReadonlyMap<string, Slot>;
  body: Pick<BodyRules, 'whole' | 'single'>;
}

interface Target {
  variable: string;
  one: TextReader;
  many: (texts: readonly string[]) => unknown;
}

/** Divides a row's arguments among query string and body. `wait` of a long mutation is the bridge's own (`Prefer`). */
function divided(
  { options, method }: Row,
  { slots, bound, chain }: Plan,
  waits: boolean,
): { query: Map<string, Slot>; whole: Slot | undefined; single: { key: string; slot: Slot }[] } {
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
  const fromQuery = ({ argument }: Slot) => !bodied || options.query?.includes(argument.name) === true;
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

const refusal = (key: string, message: string, code = 'invalid'): ApiError =>
  badInput(message, { validation: [{ path: [key], message, code }] });

function readText(key: string, text: string | string[], { one, many }: Pick<Target, 'one' | 'many'>): unknown {
  try {
    return typeof text === 'string' ? one(text) : many(text);
  } catch (error) {
    throw error instanceof Unreadable ? refusal(key, `"${key}" ${error.message}`) : error;
  }
}

const target = ({ variable, type }: Slot): Target => ({ variable, one: textReader(type), many: repeatedReader(type) });

/** Compiles how a row reads its path, query string and body. */
export function readerOf(
  row: Row,
  plan: Plan,
  waits: boolean,
  tolerance: Pick<BodyRules, 'ignored' | 'identity'>,
): Reader {
  const { query, whole, single } = divided(row, plan, waits);
  const queries = new Map([...query].map(([key, slot]) => [key, target(slot)]));
  const paths = [...plan.bound].map(([parameter, slot]) => ({
    parameter,
    what: plan.chain[slot.segment]!.name,
    ...target(slot),
  }));
  const fixed = Object.fromEntries(
    plan.slots
      .filter(({ argument }) => argument.name in (row.options.fixed ?? {}))
      .map((slot) => [slot.variable, row.options.fixed![slot.argument.name]]),
  );
  const readBody = bodyReader({ row, whole, single, ...tolerance });
  return {
    query,
    body: { whole, single },
    read({ params, query: sent, body }) {
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
        if (!known) throw refusal(key, `Unknown query parameter "${key}"`, 'unknown');
        variables[known.variable] = readText(key, sent[key]!, known);
      }
      return { variables, held: readBody(body, params, variables) };
    },
    explain(variables, message) {
      const named = [...query].map(([key, slot]) => ({ key, slot })).concat(single);
      const values = [
        ...named.map(({ key, slot }) => ({ key, type: slot.type, value: variables[slot.variable] })),
        ...(whole ? [{ key: undefined, type: whole.type, value: variables[whole.variable] }] : []),
      ];
      const validation = complaints(values.filter(({ type, value }) => value !== undefined || isNonNullType(type)));
      const unfit =
        validation.length === 0 ? paths.find(({ variable }) => message.includes(`"$${variable}"`)) : undefined;
      if (unfit) return notFound({ what: unfit.what, id: String(variables[unfit.variable]) });
      return badInput(validation[0]?.message ?? message, { validation });
    },
  };
}
