import { expect, test } from 'vitest';
import { never, outcomeOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

test('triggers that a transaction defers to its end write nothing once it must only read', async () => {
  const key = await own.create(`
    create table note (id integer);
    create table kept (text text);
    create function keep() returns trigger language plpgsql as
      $$ begin insert into kept values (current_setting('app.read', true)); return null; end $$;
    create constraint trigger keep after insert on note deferrable initially deferred for each row execute function keep();`);
  for (const end of ['release savepoint s', 'select 1']) {
    let reason: string | null = null;
    const running = own.workspaces.transaction(
      key,
      async (query) => {
        await query('insert into note values (1)');
        await query('savepoint s');
        reason = 'Has read';
        await query(`select set_config('app.read', 'secret', true)`);
        await query(end);
      },
      never,
      { readOnlyReason: () => reason },
    );
    expect(await outcomeOf(running)).toBe('25006');
  }
  expect(await own.run(key, 'select * from kept')).toEqual([]);
});
