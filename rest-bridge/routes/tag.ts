import { kind, permissions } from '../kind.ts';
import { tag } from '../tag.ts';

export default kind('tags', 'tag', tag, { aspects: [permissions] });
