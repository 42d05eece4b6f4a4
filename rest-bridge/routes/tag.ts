import { kind, permissions } from '../route.ts';
import { tag } from '../tag.ts';

export default kind('tags', 'tag', tag, { aspects: [permissions] });
