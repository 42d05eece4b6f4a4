import { value } from '../present.ts';
import { post } from '../route.ts';

export default [
  post(
    '/toolkits/:id/discover',
    'discoverToolkit',
    value('tools { name description inputSchema } serverInfo { name version } notes diff { added removed changed }'),
  ),
];
