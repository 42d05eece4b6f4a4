import type { Aggregation, DatasetIndex, RowSearch, Search } from '../../src/core/dataset-index.ts';
import type { Platform } from '../../src/core/platform.ts';

/** A question that the index was asked. */
export interface Asked {
  verb: 'search' | 'aggregate' | 'profile' | 'scan';
  question: Search & Partial<RowSearch> & Partial<Aggregation>;
  /** The fields that a profile is of. */
  fields: readonly string[];
}

const VERBS: ReadonlySet<string | symbol> = new Set(['search', 'aggregate', 'profile', 'scan']);

/** Writes down what the real index of a service is asked while something is done. */
export async function recorded(platform: Platform, work: () => Promise<unknown>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const real = platform.index;
  platform.index = new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      if (!VERBS.has(name)) return value.bind(target) as unknown;
      return (question: Asked['question'], ...rest: unknown[]) => {
        asked.push({ verb: name as Asked['verb'], question, fields: name === 'profile' ? (rest[0] as string[]) : [] });
        return (value as (...all: unknown[]) => unknown).call(target, question, ...rest);
      };
    },
  }) satisfies DatasetIndex;
  try {
    await work();
    return asked;
  } finally {
    platform.index = real;
  }
}

/** What was asked beside which rows of which generation: it may name no hidden field, and of twins it is the same. */
export const openPart = ({ verb, question, fields }: Asked): object => {
  const { generation: _generation, where: _where, after, ...open } = question;
  return { verb, fields, ...open, after: after === undefined ? 'none' : 'a cursor' };
};
