import 'reflect-metadata';
import {
  Configuration,
  DatabaseDriver,
  MetadataDiscovery,
  MetadataStorage,
  Platform,
  UnderscoreNamingStrategy,
  type Connection,
  type Type,
} from '@mikro-orm/core';
import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { ENTITIES } from './entity-list.ts';

/** The names of Postgres's column types, for properties that name none. */
class PostgresTypes extends Platform {
  override getDefaultMappedType(type: string): Type<unknown> {
    return super.getDefaultMappedType(type === 'timestamptz' ? 'datetime' : type);
  }
  override getUuidTypeDeclarationSQL(): string {
    return 'uuid';
  }
  override getJsonDeclarationSQL(): string {
    return 'jsonb';
  }
  override getDateTimeTypeDeclarationSQL(): string {
    return 'timestamptz';
  }
  override getTextTypeDeclarationSQL(): string {
    return 'text';
  }
  override getIntegerTypeDeclarationSQL(): string {
    return 'int';
  }
  override getBooleanTypeDeclarationSQL(): string {
    return 'boolean';
  }
  override getDoubleDeclarationSQL(): string {
    return 'double precision';
  }
  override getEnumTypeDeclarationSQL(): string {
    return 'text';
  }
}

/** The driver that MikroORM demands for its metadata. It connects to nothing. */
abstract class MetadataDriver extends DatabaseDriver<Connection> {
  protected override readonly platform = new PostgresTypes();

  constructor(config: Configuration) {
    super(config, []);
  }
}

/**
 * Returns MikroORM's metadata of all entities. A complete MikroORM would load its SQL libraries, and would put accessors
 * on the prototypes of entities, which slow down every access to a row.
 */
export function discoverEntities(): MetadataStorage {
  const config = new Configuration(
    {
      driver: MetadataDriver,
      entities: ENTITIES,
      metadataProvider: ReflectMetadataProvider,
      namingStrategy: UnderscoreNamingStrategy,
      schema: 'dws',
      dbName: 'dws',
    } as never,
    false,
  );
  return new MetadataDiscovery(new MetadataStorage(), config.getPlatform(), config).discoverSync();
}
