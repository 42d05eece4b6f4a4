import { post } from '../route.ts';

export default [post('/password-reset', 'requestPasswordReset'), post('/password-reset/:token', 'resetPassword')];
