import {
  DuckDBTypeId,
  type DuckDBArrayType,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
} from '@duckdb/node-api';
import type { FileProblem } from '../../../core/row-source.ts';
import { SELECT_PARTS } from './value-problems.ts';

const MAX_LISTED = 10;

/**
 * Returns a column with parts of structs that are read with other names, because names in a struct differ in case alone. `groups` are the
 * names in each group of the column in the schema of the file: structs, lists and maps, depth first.
 */
export function renamedParts(column: string, type: DuckDBType, groups: readonly string[][]): FileProblem[] {
  const left = [...groups];
  const renamed = structsIn(type).flatMap((read) => {
    const isRead = (names: string[]) =>
      names.length === read.length && names.every((name, i) => read[i]!.startsWith(name));
    const at = left.findIndex(isRead);
    const names = at < 0 ? [] : left.splice(0, at + 1).at(-1)!;
    return names.flatMap((name, i) =>
      name === read[i] ? [] : [`${JSON.stringify(name)} is read as ${JSON.stringify(read[i])}`],
    );
  });
  if (renamed.length === 0) return [];
  const shown = renamed.length > MAX_LISTED ? [...renamed.slice(0, MAX_LISTED), '…'] : renamed;
  return [{ column, message: `Names of parts differ in case alone: ${shown.join(', ')}. ${SELECT_PARTS}` }];
}

/** Returns the names in each struct of a type, depth first. */
function structsIn(type: DuckDBType): (readonly string[])[] {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
      return structsIn((type as DuckDBListType | DuckDBArrayType).valueType);
    case DuckDBTypeId.MAP:
      return [(type as DuckDBMapType).keyType, (type as DuckDBMapType).valueType].flatMap(structsIn);
    case DuckDBTypeId.STRUCT: {
      const { entryNames, entryTypes } = type as DuckDBStructType;
      return [entryNames, ...entryTypes.flatMap(structsIn)];
    }
    default:
      return [];
  }
}
