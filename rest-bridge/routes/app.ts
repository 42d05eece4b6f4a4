import { createTagRows, embeddedTag, kind, ownedAspects } from '../kind.ts';
import { resource } from '../present.ts';

const app = resource<{ id: string }>(
  'id tenant slug naturalId name description env status deployedAt schemaName ' +
    'ownerId owner { id name type } folderId tags createdAt updatedAt ' +
    'permissions { read write edit run share delete assignTags changeOwner }',
  ({ id }) => ({ self: `/apps/${id}`, 'svc:permissions': `/apps/${id}/permissions` }),
);

/** Assignments of tags to an app have a record of their own, and a first assignment is 201. */
const appTags = createTagRows((_names, links) => {
  const assignment = resource('id appId: resourceId tagId createdAt updatedAt', links, {
    embed: embeddedTag,
    hidden: ['created'],
  });
  return {
    item: assignment,
    single: assignment,
    assigned: assignment,
    assignedOptions: { status: { oneOf: [200, 201], of: ({ created }) => (created === true ? 201 : 200) } },
  };
});

export default kind('apps', 'app', app, { aspects: ownedAspects({ tags: appTags }) });
