/** `npm run bench -- --help`. Measures, prints, writes a JSON; asserts nothing about speed. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from './environment.js';
import { measureInProcess } from './measure.js';
import { installPeers } from './peers.js';
import { type Measurement, report } from './report.js';
import { SCENARIOS, type Scenario } from './scenarios.js';
import { type Store, startStore } from './stores.js';
import { STORES, type StoreKind } from './subject.js';
import { allSubjectNames, isPeer, NOT_RUN, subjectNames, takesPart } from './subjects.js';

const HELP = `npm run bench -- [options]
  --store=postgres,redis,sqlite,mariadb   default: all
  --only=${SCENARIOS.join(',')}   default: all
  --subject=q,limit,bullmq                default: all; the peers are installed on first use
  --rounds=5                              each round measures every subject once
  --quick                                 fewer jobs, 3 rounds, q and limit only unless --subject is given
  --json=<file>                           where the figures go; default: q-bench.json among the temporary files`;

/** Few enough that a round takes seconds. */
const JOBS: Readonly<Record<'quick' | 'full', Readonly<Record<Scenario, number>>>> = {
  quick: { push: 200, push20: 600, bulk: 5000, drain: 8000, drain1: 150, pickup: 10 },
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

const stop = new AbortController();
const measurements: Measurement[] = [];

if (options.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const stores = chosen('store', options.store, STORES);
  const scenarios = chosen('only', options.only, SCENARIOS);
  const subjects = [...new Set(stores.flatMap(allSubjectNames))];
  if (options.subject !== undefined) chosen('subject', options.subject, subjects);
  // Once: a second one is for whoever does not want to wait for the servers to end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal));
  const servers: Record<string, string> = {};
  const notRun: string[] = [];
  for (const store of stores) {
    if (stop.signal.aborted) break;
    await using server = await startStore[store]();
    servers[store] = server.version;
    for (const [peer, why] of Object.entries(NOT_RUN[store])) notRun.push(`${peer} (${store}): ${why}`);
    const field = await fieldOf(store, notRun);
    for (const peer of allSubjectNames(store).filter((name) => isPeer(name, store)))
      if (options.quick && options.subject === undefined) notRun.push(`${peer} (${store}): --quick leaves it out`);
    if (field.node !== process.execPath) servers[store] += `; all subjects on Node ${nodeVersion(field.node)}`;
    for (const scenario of scenarios) await measureRounds(server, store, scenario, field);
  }
  const stopped = stop.signal.aborted ? (stop.signal.reason as NodeJS.Signals) : null;
  const run = { environment: environment(), stopped, servers, measurements, notRun };
  writeFileSync(options.json, JSON.stringify(run, null, 2));
  console.log(report(run));
  console.log(`\nwritten to ${options.json}`);
  if (measurements.some(({ outcome }) => 'failed' in outcome)) process.exitCode = 1;
  if (stopped !== null) process.exitCode = 128 + constants.signals[stopped];
}

/** Who is measured on a store, and on which Node. */
interface Field {
  readonly subjects: readonly string[];
  readonly peers: string | null;
  readonly node: string;
}

async function fieldOf(store: StoreKind, notRun: string[]): Promise<Field> {
  const subjects = subjectsOf(store);
  const own = { subjects: subjects.filter((name) => !isPeer(name, store)), peers: null, node: process.execPath };
  if (own.subjects.length === subjects.length) return own;
  try {
    const { folder, node } = await installPeers(store, stop.signal);
    return { subjects, peers: folder, node };
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : error;
    for (const name of subjects) if (isPeer(name, store)) notRun.push(`${name} (${store}): ${why}`);
    return own;
  }
}

async function measureRounds(server: Store, store: StoreKind, scenario: Scenario, field: Field): Promise<void> {
  const { peers, node } = field;
  const rounds = Number(options.rounds ?? (options.quick ? 3 : 5));
  const jobs = JOBS[options.quick ? 'quick' : 'full'][scenario];
  const subjects = field.subjects.filter((name) => takesPart(name, scenario));
  for (let round = 1; round <= rounds; round++) {
    for (const subject of subjects) {
      if (stop.signal.aborted) return;
      await using place = await server.open();
      const outcome = await measureInProcess(
        { subject, store, url: place.url, scenario, jobs, peers },
        node,
        stop.signal,
      );
      // What was cut short says nothing.
      if (stop.signal.aborted) return;
      const told = 'failed' in outcome ? outcome.failed : outcome.value.toFixed(2);
      console.error(`${store} ${scenario} ${round}/${rounds} ${subject}: ${told}`);
      measurements.push({ store, scenario, subject, jobs, round, outcome });
    }
  }
}

function nodeVersion(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
}

function subjectsOf(store: StoreKind): string[] {
  if (options.subject === undefined) return subjectNames(store, options);
  const asked = options.subject.split(',');
  return allSubjectNames(store).filter((name) => asked.includes(name));
}

function chosen<T extends string>(option: string, list: string, known: readonly T[]): T[] {
  const unknown = list.split(',').filter((name) => !known.some((one) => one === name));
  if (unknown.length > 0)
    throw new Error(`--${option}: there is no ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return known.filter((one) => list.split(',').includes(one));
}
