/** `npm run bench -- --help`. Measures, prints, writes a JSON; asserts nothing about speed. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from './environment.js';
import { measureInProcess } from './measure.js';
import { type Measurement, report } from './report.js';
import { SCENARIOS, type Scenario } from './scenarios.js';
import { startStore } from './stores.js';
import { STORES, type StoreKind } from './subject.js';
import { NOT_RUN, subjectNames } from './subjects.js';

const HELP = `npm run bench -- [options]
  --store=postgres,redis,sqlite,mariadb   default: all
  --only=${SCENARIOS.join(',')}   default: all
  --subject=q,limit                       default: all
  --rounds=5                              each round measures every subject once
  --quick                                 fewer jobs, 3 rounds
  --json=<file>                           where the figures go; default: q-bench.json among the temporary files`;

/** Few enough that a round takes seconds. */
const JOBS: Readonly<Record<'quick' | 'full', Readonly<Record<Scenario, number>>>> = {
  quick: { push: 500, push20: 2000, bulk: 20_000, drain: 20_000, drain1: 500, pickup: 25 },
  full: { push: 3000, push20: 10_000, bulk: 100_000, drain: 100_000, drain1: 3000, pickup: 200 },
};

const { values: options } = parseArgs({
  options: {
    store: { type: 'string', default: STORES.join(',') },
    only: { type: 'string', default: SCENARIOS.join(',') },
    subject: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string', default: join(tmpdir(), 'q-bench.json') },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const stores = chosen('store', options.store, STORES);
  const scenarios = chosen('only', options.only, SCENARIOS);
  const jobsOf = JOBS[options.quick ? 'quick' : 'full'];
  const rounds = Number(options.rounds ?? (options.quick ? 3 : 5));
  const servers: Record<string, string> = {};
  const measurements: Measurement[] = [];
  const notRun: string[] = [];
  for (const store of stores) {
    await using server = await startStore[store]();
    servers[store] = server.version;
    for (const [peer, why] of Object.entries(NOT_RUN[store])) notRun.push(`${peer} (${store}): ${why}`);
    const subjects = subjectsOf(store);
    for (const scenario of scenarios) {
      for (let round = 1; round <= rounds; round++) {
        for (const subject of subjects.filter((name) => takesPart(name, scenario))) {
          await using place = await server.open();
          const jobs = jobsOf[scenario];
          const outcome = await measureInProcess({ subject, store, url: place.url, scenario, jobs });
          console.error(
            `${store} ${scenario} ${round}/${rounds} ${subject}: ${'failed' in outcome ? outcome.failed : outcome.value.toFixed(2)}`,
          );
          measurements.push({ store, scenario, subject, jobs, round, outcome });
        }
      }
    }
  }
  const run = { environment: environment(), servers, measurements, notRun };
  writeFileSync(options.json, JSON.stringify(run, null, 2));
  console.log(report(run));
  console.log(`\nwritten to ${options.json}`);
  if (measurements.some(({ outcome }) => 'failed' in outcome)) process.exitCode = 1;
}

/** A limit has no idle worker: it would spin. */
function takesPart(subject: string, scenario: Scenario): boolean {
  return scenario !== 'pickup' || subject === 'q';
}

function subjectsOf(store: StoreKind): string[] {
  const all = subjectNames(store);
  return options.subject === undefined ? all : all.filter((name) => options.subject?.split(',').includes(name));
}

function chosen<T extends string>(option: string, list: string, known: readonly T[]): T[] {
  const unknown = list.split(',').filter((name) => !known.some((one) => one === name));
  if (unknown.length > 0)
    throw new Error(`--${option}: there is no ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return known.filter((one) => list.split(',').includes(one));
}
