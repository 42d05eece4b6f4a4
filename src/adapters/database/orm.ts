import 'reflect-metadata';
import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { MikroORM, UnderscoreNamingStrategy, type Options } from '@mikro-orm/postgresql';
import { ENTITIES } from './entity-list.ts';

/** Returns the options of MikroORM: common ones, and the given ones. */
export const ormOptions = (more: Partial<Options>): Options =>
  ({
    entities: ENTITIES,
    metadataProvider: ReflectMetadataProvider,
    namingStrategy: UnderscoreNamingStrategy,
    schema: 'dws',
    forceUtcTimezone: true,
    ...more,
  }) as Options;

export { MikroORM };
