/**
 * Which folder may import which. A room may look down the stairs, never up; `tools/rooms.mjs` runs this and also fails when no
 * module was cruised, which is what happens when TypeScript cannot be read (dependency-cruiser reads it through @swc/core).
 */
const rooms = [
  'src/core',
  'entities',
  'src/adapters',
  'src/services',
  'src/operations',
  'resolvers',
  'rest-bridge',
  'src/server',
  'test',
];

const instead = {
  'src/core': 'Core is vocabulary: state an interface here and let the caller pass in what it needs.',
  entities: 'An entity only describes what is stored. Put a rule into src/services, a computed field into resolvers.',
  'src/adapters':
    'An adapter knows one outside system. State the interface it serves in src/core and let a service use it.',
  'src/services': 'A service starts an operation by its name from src/core, and takes what it needs from its context.',
  'src/operations':
    'An operation calls services and reports progress; what it has in common with a resolver is a service.',
  resolvers: 'Put the rule into src/services, where both can call it.',
  'rest-bridge': 'REST speaks through the schema: name the GraphQL field in the route instead.',
  'src/server': 'What a test and the server share belongs into the room it is about.',
};

const upward = rooms.slice(0, -1).map((room, i) => ({
  name: `${room} looks up`,
  severity: 'error',
  comment: instead[room],
  from: { path: `^${room}/` },
  to: { path: rooms.slice(i + 1).map((above) => `^${above}/`) },
}));

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'rest-bridge knows only the schema',
      severity: 'error',
      comment:
        'Name the GraphQL field in the route; only types may be imported (`import type`) from services, resolvers and entities.',
      from: { path: '^rest-bridge/' },
      to: {
        path: ['^entities/', '^src/adapters/', '^src/services/', '^src/operations/', '^resolvers/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'core does no I/O',
      severity: 'error',
      comment:
        'Core is vocabulary. What reads files, sockets or processes is an adapter behind an interface stated in core.',
      from: { path: '^src/core/' },
      to: { path: '^(node:)?(fs|net|http|https|child_process|dns|tls|dgram|worker_threads|sqlite|fs/promises)$' },
    },
    {
      name: 'an adapter uses another adapter',
      severity: 'error',
      comment:
        'Adapters stand beside each other: let a service bring them together, or state the common interface in src/core. src/adapters/database (the pools) is open to all.',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: ['^src/adapters/$1/', '^src/adapters/database/'] },
    },
    {
      name: 'a migration uses the code of today',
      severity: 'error',
      comment:
        'A migration must do the same for ever: it imports nothing but the migration base and what lies beside it.',
      from: { path: '^src/migrations/' },
      to: { pathNot: ['^src/migrations/', '^node_modules/', '^(node:)?[a-z_/]+$'] },
    },
    {
      name: 'the code uses a developer tool',
      severity: 'error',
      comment:
        'Only tests, tools and benches may import development packages; move the package to "dependencies" if the service needs it.',
      from: { path: '^(src|entities|resolvers|rest-bridge)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'unknown module',
      severity: 'error',
      comment: 'Relative imports end in .ts; packages must be in package.json.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^dist', '^bench'] },
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
