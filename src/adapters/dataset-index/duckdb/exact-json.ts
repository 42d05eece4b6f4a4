import { exactJson, LONG_NUMBER } from '../../../core/exact-number.ts';
import { textFunction } from './text-function.ts';

const NAME = 'dws_exact_json';

/** Function of DuckDB for `exactJsonSql`. */
export const exactJsonFunction = () => textFunction(NAME, exactJson);

/** Returns a condition for JSON whose numbers may change as JSON numbers. */
export const mayChangeSql = (json: string): string => `regexp_matches(CAST(${json} AS VARCHAR), '${LONG_NUMBER}')`;

/** Returns SQL of JSON in which such numbers are texts with all digits. Null stays null. */
export const exactJsonSql = (json: string): string =>
  `CASE WHEN ${mayChangeSql(json)} THEN CAST(${NAME}(CAST(${json} AS VARCHAR)) AS JSON) ELSE ${json} END`;
