import { kind } from '../kind.ts';
import { resource } from '../present.ts';

const identityProvider = resource<{ id: string }>(
  `id domain name issuer clientId scope usernameClaim createUsers emailDomains teamIds enabled createdAt updatedAt`,
  ({ id }) => ({ self: `/identity-providers/${id}` }),
);

export default kind('identity-providers', 'identity-provider', identityProvider, {
  aspects: [],
  rows: {
    create: {
      example: {
        domain: 'corp.example',
        name: 'Corp',
        issuer: 'https://login.corp.example',
        clientId: 'data-workspace',
        clientSecret: 'secret',
        createUsers: true,
        emailDomains: ['corp.example'],
      },
    },
    update: { example: { enabled: false } },
  },
});
