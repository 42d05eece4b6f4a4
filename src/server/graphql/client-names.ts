import type { ClientNames } from '../../services/client/field-usage.ts';

/** Returns the name and the version of a client from the headers of a request, which `header` returns in lower case. */
export const clientNamesOf = (header: (name: string) => string | undefined): ClientNames => ({
  name: header('apollographql-client-name') ?? header('graphql-client-name'),
  version: header('apollographql-client-version') ?? header('graphql-client-version'),
});
