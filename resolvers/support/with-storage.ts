import type { GraphQLFieldResolver } from 'graphql';
import type { PublicContext } from '../../src/core/context.ts';
import { checkStorage } from '../../src/services/resource/storage-limit.ts';

type Resolve = GraphQLFieldResolver<unknown, PublicContext>;

/** The first word of mutations that store more. Changes and deletions are possible in any case, tokens and logins too. */
const ADDS = /^(?:copy|create(?!Token)|deploy|edit|preview|promote|refresh|render|replay|retry|run|upload)(?=[A-Z])/;
const ADDS_CONTENT = new Set(['setAppFile', 'setAssistantIcon', 'setAvatar', 'setTemplateFileContents', 'syncLibrary']);

/** Returns whether a mutation stores more, so that it is refused when the storage of its tenant is used up. */
export const addsContent = (mutation: string): boolean => ADDS.test(mutation) || ADDS_CONTENT.has(mutation);

/** Wraps a mutation so that it throws 413 when the storage of the caller's tenant is used up, if it stores more. */
export const withStorage = (mutation: string, resolve: Resolve): Resolve =>
  addsContent(mutation)
    ? async (source, args, context, info) => {
        if (context.viewer) await checkStorage(context.platform, context.viewer.tenantId);
        return resolve(source, args, context, info) as unknown;
      }
    : resolve;
