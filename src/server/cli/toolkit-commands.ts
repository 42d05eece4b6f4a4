import { InvalidArgumentError, type Command } from 'commander';
import { readVariable } from '../../core/process-environment.ts';

/** Adds `dws toolkit discover`, which works on a service by its API and needs nothing of it on this machine. */
export function addToolkitCommands(program: Command): void {
  const toolkit = program.command('toolkit').description('work with toolkits of a service by its API');
  toolkit
    .command('discover <id>')
    .description(
      'start the MCP server of an mcp-stdio toolkit on this machine, and store its tools; ' +
        'the token of the API is taken from DWS_TOKEN',
    )
    .requiredOption('--url <base>', 'URL of the service, e.g. http://127.0.0.1:4000')
    .option(
      '--env <NAME=value>',
      'variable of the server, repeatable; default: its value in this shell, except for DWS_*',
      addVariable,
      {},
    )
    .action(async (id: string, { url, env }: { url: string; env: Record<string, string> }) => {
      const { discoverStdioToolkit } = await import('./toolkit-discovery.ts');
      const token = readVariable('DWS_TOKEN');
      if (!token) throw new Error('Set DWS_TOKEN to a token of the API with the scopes read and write');
      const { serverInfo, tools, diff, notes, waiting } = await discoverStdioToolkit({ id, url, token, env });
      console.log(
        `Found ${tools} ${tools === 1 ? 'tool' : 'tools'} of ${serverInfo.name} ${serverInfo.version}`.trimEnd(),
      );
      for (const note of notes) console.log(note);
      for (const [change, names] of Object.entries(diff)) for (const name of names) console.log(`${change}\t${name}`);
      if (waiting.length > 0)
        console.log(`${waiting.length} wait for approval: POST /api/toolkits/${id}/tools/_approve`);
    });
}

function addVariable(text: string, former: Record<string, string>): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('It must be NAME=value.');
  return { ...former, [name]: value! };
}
