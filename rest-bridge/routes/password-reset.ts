import { post } from '../route.ts';

export default [
  post('/password-reset', 'requestPasswordReset', undefined, { example: { username: 'ann' } }),
  post('/password-reset/:token', 'resetPassword', undefined, { example: { password: 'correct horse battery' } }),
];
