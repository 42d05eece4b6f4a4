import { Arg, ID } from 'type-graphql';

/** Declares the argument that identifies a resource: `@Key('dataset') id: string`. */
export const Key = (kind: string, name = 'id') =>
  Arg(name, () => ID, { description: `Id, slug or natural id (\`tenant:slug\`) of the ${kind}.` });

/** Declares the argument that identifies a resource without a slug: `@Id('folder') id: string`. */
export const Id = (kind: string, name = 'id') => Arg(name, () => ID, { description: `Id of the ${kind}.` });

/** Declares the argument that identifies a user: `@Username() username: string`. */
export const Username = () => Arg('username', () => String, { description: 'Username or id of the user.' });
