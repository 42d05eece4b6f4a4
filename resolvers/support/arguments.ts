import { Arg, ID } from 'type-graphql';

/** The argument that names one resource: `@Key('dataset') id: string`. */
export const Key = (kind: string, name = 'id') =>
  Arg(name, () => ID, { description: `Id, slug or natural id (\`tenant:slug\`) of the ${kind}.` });

/** The argument that names one resource of a kind without slugs: `@Id('folder') id: string`. */
export const Id = (kind: string, name = 'id') => Arg(name, () => ID, { description: `Id of the ${kind}.` });

/** The argument that names a user: `@Username() username: string`. */
export const Username = () => Arg('username', () => String, { description: 'Username or id of the user.' });
