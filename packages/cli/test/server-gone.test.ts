import { startPostgres } from '@q/servers';
import { describe, expect, it } from 'vitest';
import { aProject } from './project.js';
import { HANDLERS } from './stores.js';

function config(url: string): string {
  // A server that trusts everybody takes any password: it is here to be looked for in what is printed.
  const withPassword = url.replace('postgres@', 'postgres:hunter2@');
  return `
import pg from 'pg';
import { Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import { handlers } from './handlers.mjs';
const pool = new pg.Pool({ connectionString: '${withPassword}' });
pool.on('error', () => {});
const driver = new PgDriver(pool);
if (process.env.CREATE) await driver.createTables();
export default { queue: new Queue({ driver, handlers }), close: async () => { await driver.close(); await pool.end(); } };
`;
}

describe('When the server is gone', { timeout: 60_000 }, () => {
  it('a worker ends with 1 after five failures, and other commands with 1 at once; nobody shows the password', async () => {
    await using server = await startPostgres({ own: true });
    await using project = aProject({ 'handlers.mjs': HANDLERS, 'q.config.mjs': config(server.url) });
    const worker = project.start(['work', '--sleep=0.05'], { env: { CREATE: '1' } });
    await worker.said(' watching ');
    await server.kill();
    const { code, stdout, stderr } = await worker.ended;
    expect(code).toBe(1);
    expect(stdout).toContain('\nStopping: the queue has been unreadable five times running\nRan 0 jobs\n');
    expect(stderr.match(/^error: could not reserve a job: .+$/gm)?.length).toBe(5);
    const status = await project.q(['status']);
    expect([status.code, status.stdout]).toEqual([1, '']);
    expect(status.stderr).toMatch(/^error: .*ECONNREFUSED.*\n$/);
    expect(stderr + status.stderr).not.toContain('hunter2');
  });
});
