import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  Info,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { ApiClient, DocumentsModeEnum } from '../../entities/api-client.ts';
import { ClientDocument } from '../../entities/client-document.ts';
import type { Context } from '../../src/core/context.ts';
import type { DocumentsMode } from '../../src/core/documents-mode.ts';
import { notFound } from '../../src/core/errors.ts';
import { isUuid } from '../../src/core/id.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as documents from '../../src/services/client/client-document.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, PageArgs, pageOf } from '../support/page.ts';
import { relationField } from '../support/relation-fields.ts';

const ApiClientPage = pageOf(ApiClient, 'ApiClient');
const ClientDocumentPage = pageOf(ClientDocument, 'ClientDocument');

const ClientName = () => Arg('name', () => String, { description: 'Name of the client.' });
const DocumentId = () => Arg('id', () => String, { description: 'UUID of the document, or its id in the manifest.' });
const CanRegister = () => Can('tenant:superuser', { tokenScope: 'documents' });

@ObjectType({ description: 'Result of the upload of a manifest.' })
class ClientDocumentUpload {
  @Field(() => Int, { description: 'Number of documents that are new.' })
  added!: number;

  @Field(() => Int, { description: 'Number of documents that were stored before.' })
  unchanged!: number;
}

@Resolver(() => ApiClient)
export class ApiClientResolver {
  @CanRegister()
  @Query(() => ApiClientPage, {
    description: 'Lists the clients of the tenant that have documents or a mode, by name.',
  })
  apiClients(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(ApiClient, page, info);
  }

  @CanRegister()
  @Query(() => ApiClient, { nullable: true, description: 'Returns a client.' })
  apiClient(@Ctx() ctx: Context, @ClientName() name: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(ApiClient, name, info);
  }

  @CanRegister()
  @Mutation(() => ApiClient, {
    description:
      'Sets the treatment of documents that are not stored for a client, if one of its tokens sends them. Creates the client ' +
      'if there is none.',
  })
  async setClientMode(
    @Ctx() ctx: Context,
    @ClientName() name: string,
    @Arg('mode', () => DocumentsModeEnum, { description: 'The new mode.' }) mode: DocumentsMode,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(ApiClient, await documents.setMode(ctx, name, mode), info);
  }

  @CanRegister()
  @Mutation(() => String, {
    description:
      'Deletes a client with its documents. Its tokens may then run all documents. Returns the `name` argument.',
  })
  async deleteClient(@Ctx() ctx: Context, @ClientName() name: string) {
    await documents.remove(ctx, name);
    return name;
  }

  @CanRegister()
  @Mutation(() => ClientDocumentUpload, {
    description: 'Stores the documents of a manifest for a client, all or none. Creates the client if there is none.',
  })
  uploadClientDocuments(
    @Ctx() ctx: Context,
    @ClientName() name: string,
    @Arg('manifest', () => JsonObject, {
      description:
        'Manifest of Apollo, or an object with the texts by their ids: the persisted queries of Relay, or the persisted ' +
        'documents of the client preset of GraphQL code generator.',
    })
    manifest: Record<string, unknown>,
  ): Promise<ClientDocumentUpload> {
    return documents.upload(ctx, name, manifest);
  }

  @CanRegister()
  @Mutation(() => String, { description: 'Deletes a document of a client. Returns the `id` argument.' })
  async deleteClientDocument(@Ctx() ctx: Context, @ClientName() name: string, @DocumentId() id: string) {
    await documents.removeDocument(ctx, name, id);
    return id;
  }

  @FieldResolver(() => ClientDocumentPage, { description: 'Documents that it may run, by their ids in the manifest.' })
  documents(
    @Ctx() ctx: Context,
    @Root() client: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.childPage(ApiClient, 'documents', client, info, page);
  }

  @FieldResolver(() => ClientDocument, { nullable: true, description: 'A document that it may run.' })
  async document(
    @Ctx() ctx: Context,
    @Root() client: { id: string },
    @DocumentId() id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const key = { clientId: client.id, documentId: id };
    const found =
      (await ctx.read.find(ClientDocument, key, info)) ??
      (isUuid(id) ? await ctx.read.find(ClientDocument, { clientId: client.id, id }, info) : null);
    if (!found) throw notFound({ what: 'document', id });
    return found;
  }
}

relationField(ClientDocument, 'client', ApiClient, 'Client that may run it.');
