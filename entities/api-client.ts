import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { DOCUMENTS_MODES, type DocumentsMode } from '../src/core/documents-mode.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

export const DocumentsModeEnum = Object.fromEntries(DOCUMENTS_MODES.map((mode) => [mode, mode])) as {
  [M in DocumentsMode]: M;
};
registerEnumType(DocumentsModeEnum, {
  name: 'DocumentsMode',
  description: 'Treatment of documents of GraphQL that are not stored for a client.',
  valuesConfig: {
    OFF: { description: 'They run.' },
    LOG: { description: 'They run, and the log of the service names them.' },
    WARN: { description: 'They run, the log names them, and `extensions.warnings` of the response has a warning.' },
    ENFORCE: { description: 'They are refused, and so are introspection and the registration of persisted queries.' },
  },
});

/** See docs/contract/clients.md. */
@ObjectType({
  description: 'A program that uses GraphQL, with the documents that it may run. Superusers only.',
  implements: Node,
})
@Entity()
export class ApiClient extends TenantRow {
  @Field(() => String, { description: 'Name, which tokens of the client have as `client`.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => DocumentsModeEnum, { description: 'Treatment of other documents that its tokens send.' })
  @Enum({ items: () => [...DOCUMENTS_MODES], type: 'text' })
  mode: DocumentsMode = 'OFF';
}
