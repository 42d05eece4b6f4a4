import type { CodegenConfig } from '@graphql-codegen/cli';

/** JSON values of the service, as its documentation of the scalars describes them. */
const JSON_OBJECT = 'Record<string, unknown>';

/**
 * Generates the types of the operations in this folder. It reads the schema of this repository; `SCHEMA` may be the
 * address of a running service, `http://127.0.0.1:4000/graphql/schema.graphql`.
 */
const config: CodegenConfig = {
  schema: process.env['SCHEMA'] ?? '../schema/schema.graphql',
  documents: ['graphql/*.ts', '!graphql/codegen.ts'],
  generates: {
    'graphql/generated/': {
      preset: 'client',
      // Apollo Client masks fragments itself if an app wants it.
      presetConfig: { fragmentMasking: false },
      config: {
        // A new scalar of the service is an error until it has a type here.
        strictScalars: true,
        defaultScalarType: 'unknown',
        scalars: {
          Criteria: JSON_OBJECT,
          DateTime: 'string',
          FileContent: 'string',
          FlowStep: JSON_OBJECT,
          ID: 'string',
          JSON: 'unknown',
          JSONObject: JSON_OBJECT,
          RowFilter: `${JSON_OBJECT} | string`,
        },
        enumsAsTypes: true,
        useTypeImports: true,
      },
    },
  },
  // Node runs the files as they are, so imports have extensions.
  importExtension: '.ts',
};

export default config;
