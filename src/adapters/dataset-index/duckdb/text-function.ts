import { DuckDBScalarFunction, VARCHAR } from '@duckdb/node-api';

/** Returns a function of DuckDB that maps each text to another one. */
export const textFunction = (name: string, map: (text: string) => string): DuckDBScalarFunction =>
  DuckDBScalarFunction.create({
    name,
    returnType: VARCHAR,
    parameterTypes: [VARCHAR],
    mainFunction: (_info, input, output) => {
      const texts = input.getColumnVector(0);
      for (let row = 0; row < input.rowCount; row++) output.setItem(row, map(String(texts.getItem(row))));
      output.flush();
    },
  });
