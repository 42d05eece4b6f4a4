/** Runs one statement and returns its rows. */
type Query = (sql: unknown, params?: unknown) => Promise<unknown>;

/** A host call of handlers. */
export type Call = (argument: unknown) => Promise<unknown>;

interface DatabaseCalls {
  query: Call;
  begin: Call;
  commit: Call;
  rollBack: Call;
}

/** Creates `query` and `transaction`. */
export function createDatabase(calls: DatabaseCalls): { query: Query; transaction: object } {
  const queryIn =
    (transaction: unknown): Query =>
    async (sql, params = []) =>
      calls.query({ sql: textOf(sql), params: paramsOf(params), transaction });
  const transaction = async (work: unknown): Promise<unknown> => {
    if (typeof work !== 'function') throw new TypeError('transaction() takes a function of {query}');
    const id = await calls.begin(null);
    let result: unknown;
    try {
      result = await (work as (database: { query: Query }) => unknown)({ query: queryIn(id) });
    } catch (error) {
      await calls.rollBack(id);
      throw error;
    }
    await calls.commit(id);
    return result;
  };
  return { query: queryIn(null), transaction };
}

function textOf(sql: unknown): string {
  if (typeof sql !== 'string') throw new TypeError('query(sql, params) takes a text');
  return sql;
}

function paramsOf(params: unknown): unknown[] {
  if (!Array.isArray(params)) throw new TypeError('query(sql, params) takes a list of parameters');
  return params.map(paramOf);
}

/** Returns a parameter as a value of JSON that Postgres reads as the same value: bytes and numbers that JSON lacks are texts. */
function paramOf(param: unknown): unknown {
  if (Array.isArray(param)) return param.map(paramOf);
  if (typeof param === 'bigint' || (typeof param === 'number' && !Number.isFinite(param))) return String(param);
  if (param instanceof ArrayBuffer) return hexOf(new Uint8Array(param));
  if (ArrayBuffer.isView(param)) return hexOf(new Uint8Array(param.buffer, param.byteOffset, param.byteLength));
  if (typeof param === 'function' || typeof param === 'symbol')
    throw new TypeError(`query(sql, params) takes no ${typeof param}`);
  return param ?? null;
}

/** Returns bytes in the form in which Postgres reads `bytea`. */
const hexOf = (bytes: Uint8Array): string =>
  `\\x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
