/**
 * Import rules between folders. A layer imports only from the layers before it in this list. `tools/import-rules.mjs`
 * runs the rules, and fails when no module was cruised: that happens when TypeScript cannot be read without @swc/core.
 */
const layers = [
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
  'src/core': 'Core has no dependencies: declare an interface here and let the caller pass the implementation.',
  entities: 'An entity only describes what is stored. Rules belong in src/services, computed fields in resolvers.',
  'src/adapters': 'An adapter serves one outside system. Declare its interface in src/core and let a service use it.',
  'src/services': 'A service starts an operation by its name from src/core and gets everything else from its context.',
  'src/operations':
    'An operation calls services and reports progress. Code that it shares with a resolver belongs in a service.',
  resolvers: 'Move the rule to src/services, where both can call it.',
  'rest-bridge': 'REST reaches the service through the schema only: name the GraphQL field in the route.',
  'src/server': 'Code that tests and the server share belongs in the layer that it is about.',
};

const upward = layers.slice(0, -1).map((layer, i) => ({
  name: `${layer} imports upward`,
  severity: 'error',
  comment: instead[layer],
  from: { path: `^${layer}/` },
  to: { path: layers.slice(i + 1).map((above) => `^${above}/`) },
}));

/** Folders of services. A folder imports only from the folders before it in this list. */
const areas = [
  'resource',
  'secrets',
  'connection',
  'identity',
  'client',
  'operation',
  'usage',
  'ai',
  'image',
  'datasource',
  'dataset',
  'visual',
  'report',
  'library',
  'toolkit',
  'oauth',
  'app',
  'template',
  'job',
  'agent',
  'assistant',
  'assembly',
];
const areaPaths = areas.map((area) => `^src/services/${area}/`);

const upwardServices = [
  ...areas.slice(0, -1).map((area, i) => ({
    name: `services/${area} imports upward`,
    severity: 'error',
    comment:
      'Declare in src/core what the lower folder needs, and hand it in from src/services/assembly, or move shared code down.',
    from: { path: areaPaths[i] },
    to: { path: areaPaths.slice(i + 1) },
  })),
  {
    name: 'a folder of services has no place in the order',
    severity: 'error',
    comment: 'Add it to `areas` in .dependency-cruiser.cjs.',
    from: { path: '^src/services/', pathNot: areaPaths },
    to: {},
  },
];

module.exports = {
  forbidden: [
    ...upward,
    ...upwardServices,
    {
      name: 'rest-bridge imports more than the schema',
      severity: 'error',
      comment:
        'Name the GraphQL field in the route. Only types (`import type`) may come from services, resolvers and entities.',
      from: { path: '^rest-bridge/' },
      to: {
        path: ['^entities/', '^src/adapters/', '^src/services/', '^src/operations/', '^resolvers/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'core does no I/O',
      severity: 'error',
      comment: 'Code that reads files, sockets or processes is an adapter behind an interface declared in core.',
      from: { path: '^src/core/' },
      to: { path: '^(node:)?(fs|net|http|https|child_process|dns|tls|dgram|worker_threads|sqlite|fs/promises)$' },
    },
    {
      name: 'an adapter uses another adapter',
      severity: 'error',
      comment:
        'Let a service combine two adapters, or declare a common interface in src/core. src/adapters/database and process are open to all.',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: ['^src/adapters/$1/', '^src/adapters/(database|process)/'] },
    },
    {
      name: 'a migration imports application code',
      severity: 'error',
      comment:
        'A migration must never change its effect: it imports only the migration base and files of src/migrations.',
      from: { path: '^src/migrations/' },
      to: { pathNot: ['^src/migrations/', '^node_modules/', '^(node:)?[a-z_/]+$'] },
    },
    {
      name: 'a call to another host bypasses the guarded client',
      severity: 'error',
      comment:
        'Use platform.outbound (src/core/outbound.ts): it checks each address. Exempt are clients of hosts that operators name.',
      from: {
        path: '^(src|entities|resolvers|rest-bridge)/',
        // The latter two only take the names of statuses from node:http.
        pathNot: ['^src/adapters/outbound/', '^rest-bridge/error-response.ts$', '^src/server/unparsable-requests.ts$'],
      },
      to: {
        path: ['^(node:)?(http|https|http2)$', 'node_modules/(undici|axios|got|node-fetch|ky|superagent)/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'the service starts a process for a toolkit',
      severity: 'error',
      comment:
        'A command of a user must not run on the machine of the service. Only `dws toolkit discover` starts MCP servers.',
      from: { path: '^(src|entities|resolvers|rest-bridge)/', pathNot: '^src/server/cli/stdio-server.ts$' },
      to: { path: '@modelcontextprotocol/client/(dist/)?stdio|^cross-spawn|node_modules/cross-spawn/' },
    },
    {
      name: 'the code of toolkits starts a process',
      severity: 'error',
      comment:
        'A command of a user must not run on the machine of the service. Only `dws toolkit discover` starts MCP servers.',
      from: {
        path: '^(src/adapters/mcp|src/services/(toolkit|connection|oauth)|resolvers/toolkit|rest-bridge/routes/toolkit[^/]*)/?',
      },
      to: { path: '^(node:)?(child_process|cluster)$|^src/adapters/process/|^src/server/cli/' },
    },
    {
      name: 'a running service loads the command line',
      severity: 'error',
      comment: 'Only src/server/main.ts runs commands. They start processes on the machine of their user.',
      from: { path: '^src/', pathNot: ['^src/server/(cli/|main.ts$)'] },
      to: { path: '^src/server/cli/(stdio-server|toolkit-)' },
    },
    {
      name: 'the service imports a development package',
      severity: 'error',
      comment:
        'Only tests, tools and benchmarks may import development packages. Move it to "dependencies" if the service needs it.',
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
