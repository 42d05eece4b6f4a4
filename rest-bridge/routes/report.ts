import { kind } from '../kind.ts';
import { resource } from '../present.ts';

interface Report {
  id: string;
}

const ABOUT = `id tenant slug naturalId name description ownerId owner { id name type } folderId tags createdAt updatedAt permissions { read write edit run share delete assignTags changeOwner }`;
const links = ({ id }: Report) => ({ self: `/reports/${id}`, 'svc:permissions': `/reports/${id}/permissions` });

/** Lists leave the content out: a report has up to two megabytes of it. */
export default kind('reports', 'report', resource<Report>(`${ABOUT} definition settings`, links), {
  item: resource<Report>(ABOUT, links),
});
