// The statements of the driver, and something for each of their names to stand for.
import { IdTable, type Parameters, render } from '../src/literals.js';
import { type StatementName, statementTexts } from '../src/statements.js';
import { NOW } from './fixtures.js';

export const NAMES = { table: 'queue_jobs', failedTable: 'queue_failed_jobs' };
const TEXTS = statementTexts(NAMES);

export const VALUES: Parameters = {
  after: 0,
  attempts: 0,
  availableAt: NOW,
  before: NOW,
  error: '',
  id: 1,
  ids: [1, 2, 3],
  last: 9,
  limit: 5,
  maxAttempts: 3,
  name: 'a',
  now: NOW,
  payload: '{}',
  priority: 0,
  queue: 'default',
  rows: [['default', 'a', '{}', 0, 3, 0, null, NOW, '', NOW]],
  seconds: 1,
  unique: null,
  until: NOW,
  worker: 'w',
};

/** Values for a statement: some take their ids as a table. */
export function valuesFor(text: string, ids: readonly number[] = [1, 2, 3]): Parameters {
  return { ...VALUES, ids: /FROM \(:ids\)/.test(text) ? new IdTable(ids) : ids };
}

// What cannot be explained: commands, run by the tests of what uses them.
const COMMANDS: readonly StatementName[] = [
  'readCommitted',
  'begin',
  'commit',
  'rollback',
  'state',
  'dropJobs',
  'dropFailed',
];
export const EXPLAINED = (Object.keys(TEXTS) as StatementName[]).filter((name) => !COMMANDS.includes(name));

/** Those that write rows, by their names, as they may be sent. */
export const WRITES = EXPLAINED.filter((name) => /^\s*(?:INSERT|UPDATE|DELETE)\b/.test(TEXTS[name])).map(
  (name) => [name, render(TEXTS[name], valuesFor(TEXTS[name]))] as const,
);
