import pg from 'pg';
import { badInput } from '../../../core/errors.ts';
import type { TemplatePiece } from '../../../core/parameters.ts';
import type { BoundQuery } from '../../../core/row-source.ts';
import type { Session } from './session.ts';
import { withLine } from './statement-error.ts';

type Parameter = BoundQuery['parameters'][number];

/** A statement whose placeholders are expressions over settings of the transaction. The text contains no value. */
export interface CompiledText {
  text: string;
  /** Settings for `set_config` before the text runs. Nulls need none: they are written as `NULL::<type>`. */
  settings: { name: string; value: string }[];
}

const OID = { text: 25, timestamptz: 1184, numeric: 1700, bool: 16 } as const;
/** Type of a placeholder where the statement expects none. */
const TYPE_OF: Record<Parameter['dataType'], number> = {
  string: OID.text,
  number: OID.numeric,
  date: OID.timestamptz,
  boolean: OID.bool,
};
/** int2, int4, int8 and their maximums. */
const INTEGERS = new Map([
  [21, 32_767n],
  [23, 2_147_483_647n],
  [20, 2n ** 63n - 1n],
]);
const WHOLE = /^-?\d+$/;

const INDETERMINATE = '42P18';
/** Ambiguous or undefined function or operator. */
const UNRESOLVED = new Set(['42725', '42883']);

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);

/**
 * Returns the statement with `write(occurrence)` for each placeholder, in parentheses so that it cannot merge with its
 * neighbours.
 */
function render(pieces: TemplatePiece[], write: (occurrence: number) => string): string {
  let occurrence = 0;
  return pieces.map((piece) => (typeof piece === 'string' ? piece : `(${write(occurrence++)})`)).join('');
}

/** Returns the types that the source infers. A type of 0 is inferred. */
async function inferTypes(session: Session, text: string, occurrences: Parameter[]): Promise<number[]> {
  const types: number[] = occurrences.map(() => 0);
  const giveAll = () =>
    occurrences.forEach((parameter, i) => {
      types[i] ||= TYPE_OF[parameter.dataType];
    });
  // Each round determines at least one type, so there are at most as many rounds as placeholders.
  for (;;) {
    try {
      return (await session.parse(text, types)).parameterTypes;
    } catch (error) {
      const unknown = codeOf(error) === INDETERMINATE ? Number(/\$(\d+)/.exec((error as Error).message)?.[1]) - 1 : NaN;
      if (types[unknown] === 0) types[unknown] = TYPE_OF[occurrences[unknown]!.dataType];
      else if (UNRESOLVED.has(codeOf(error) ?? '') && types.includes(0)) giveAll();
      else throw withLine(error, text);
    }
  }
}

/**
 * Postgres also infers `text` when it expects no type. Then the type of the definition is used, if the statement
 * permits it.
 */
async function preferDefinitions(
  session: Session,
  text: string,
  occurrences: Parameter[],
  inferred: number[],
): Promise<number[]> {
  const wished = occurrences.map(({ dataType }, i) => (inferred[i] === OID.text ? TYPE_OF[dataType] : inferred[i]!));
  if (wished.every((type, i) => type === inferred[i])) return inferred;
  return session.parse(text, wished).then(
    () => wished,
    () => inferred,
  );
}

/**
 * For an integer type, a number that is not an integer or is too large becomes numeric, so that it compares instead of
 * failing.
 */
function widened(type: number, { dataType, value }: Parameter): number {
  const max = INTEGERS.get(type);
  if (max === undefined || dataType !== 'number' || value === null) return type;
  const digits = String(value);
  const whole = WHOLE.test(digits) ? BigInt(digits) : undefined;
  return whole !== undefined && whole <= max && whole >= -max ? type : OID.numeric;
}

/**
 * Determines the type of every placeholder and replaces it by an expression. Throws BAD_USER_INPUT for a name without
 * parameter.
 */
export async function compilePlaceholders(
  session: Session,
  pieces: TemplatePiece[],
  parameters: Parameter[],
): Promise<CompiledText> {
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const parameterOf = (name: string) => {
    const parameter = byName.get(name);
    if (!parameter) throw badInput(`The placeholder {{${name}}} has no definition`);
    return parameter;
  };
  const occurrences = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [parameterOf(piece.name)]));
  if (occurrences.length === 0) return { text: pieces.join(''), settings: [] };

  const numbered = render(pieces, (i) => `$${i + 1}`);
  const inferred = await preferDefinitions(
    session,
    numbered,
    occurrences,
    await inferTypes(session, numbered, occurrences),
  );
  const types = inferred.map((type, i) => widened(type, occurrences[i]!));
  const rows = await session.query<{ name: string }>(
    'select pg_catalog.format_type(t, null) as name from pg_catalog.unnest($1::oid[]) with ordinality as u(t, n) order by n',
    [`{${types.join()}}`],
  );

  const used = [...new Set(occurrences)];
  const setting = (parameter: Parameter) => `dws.p${used.indexOf(parameter) + 1}`;
  const text = render(pieces, (i) =>
    occurrences[i]!.value === null
      ? `NULL::${rows[i]!.name}`
      : `pg_catalog.current_setting('${setting(occurrences[i]!)}')::${rows[i]!.name}`,
  );
  return {
    text,
    settings: used
      .filter(({ value }) => value !== null)
      .map((parameter) => ({ name: setting(parameter), value: String(parameter.value) })),
  };
}
