// A reporter of node:test that prints nothing, and writes what `npm test` adds up: see test.mjs. Its package is the one in whose folder the tests run.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LONGEST_MESSAGE = 400;

/** @param {AsyncIterable<{ type: string, data: any }>} events */
// biome-ignore lint/correctness/useYield: a reporter is a generator, also one that has nothing to print.
export default async function* totals(events) {
  const report = { passed: 0, failed: 0, skipped: 0, failures: /** @type {string[]} */ ([]) };
  for await (const { type, data } of events) {
    if (data?.details?.type === 'suite') continue;
    if (type === 'test:pass') report[data.skip === undefined ? 'passed' : 'skipped'] += 1;
    if (type === 'test:fail') {
      report.failed += 1;
      const message = String(data.details.error?.cause?.message ?? data.details.error?.message).replace(/\s+/g, ' ');
      report.failures.push(`${data.name}: ${message.slice(0, LONGEST_MESSAGE)}`);
    }
  }
  const folder = process.env.Q_REPORTS;
  if (folder === undefined) return;
  const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name.replace(/^@.*\//, '')}.json`), `${JSON.stringify(report)}\n`);
}
