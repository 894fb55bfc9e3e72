import { createMysqlDatabase, startMariaDb } from '@q/servers';
import { expect, inject, it } from 'vitest';
import { describeDiagnosis } from './diagnosis.js';
import { open } from './fixtures.js';

describeDiagnosis({ name: 'MariaDB', url: () => inject('mariadb'), skipsLocked: true });

it('a server that logs by statement is said to refuse every claim, and one that takes no writes not to take them', async () => {
  await using server = await startMariaDb({
    own: true,
    settings: { 'log-bin': 'binlog', 'binlog-format': 'STATEMENT' },
  });
  const { url } = await createMysqlDatabase(server.url);
  const { driver } = await open(url, { now: () => new Date() });
  await server.readOnly(true);
  const findings = await driver.diagnose();
  expect(findings.filter(({ level }) => level !== 'ok')).toStrictEqual([
    {
      level: 'error',
      code: 'binlog_format',
      message: 'The binary log has the format STATEMENT, for which the server refuses every claim (error 1665)',
      advice: 'Set binlog_format to ROW or MIXED',
    },
    {
      level: 'error',
      code: 'read_only',
      message: 'The server takes no writes: read_only',
      advice: 'Connect to the primary',
    },
  ]);
});
