import { kind, permissions } from '../kind.ts';
import { tag } from '../tag.ts';

export default kind('tags', 'tag', tag, {
  aspects: [permissions],
  rows: { create: { example: { name: 'Sales', color: '#1a7f37' } }, update: { example: { color: '#0969da' } } },
});
