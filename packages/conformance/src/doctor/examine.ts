import { abilitiesOf, type Finding, hasDiagnosis, hasScratch, type QueueDriver } from '@q/core';
import { CASES } from '../cases/index.js';
import type { Harness } from '../harness.js';
import { type CaseResult, runConformance } from '../run.js';
import { Twins } from './twins.js';
import { whyNotTried } from './why-not-tried.js';

/** What was found out about a driver and its server. */
export interface Checkup {
  readonly findings: readonly Finding[];
  /** What came of each case of the suite; null where none could be tried, of which a finding tells why. */
  readonly results: readonly CaseResult[] | null;
  /** No finding is an error, and no case failed. */
  readonly isWell: boolean;
}

export interface ExamineOptions {
  /** Called with all findings as soon as they are known: before the cases are tried. */
  readonly onFindings?: ((findings: readonly Finding[]) => void) | undefined;
  /** Called with each result as it is known. */
  readonly onCase?: ((result: CaseResult) => void) | undefined;
  /** Ends it: everything that it made on the server is removed, and then it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Looks at a driver as an application has it: asks it what its server and its tables are like, and tries the suite in
 * scratch twins on the same server. Nothing else is written, and no twin is left behind, whatever happens in between.
 * Rejects where the server cannot be asked, where a twin cannot be removed, and when it is aborted.
 */
export async function examine(driver: QueueDriver, options: ExamineOptions = {}): Promise<Checkup> {
  const { signal = new AbortController().signal, onFindings } = options;
  signal.throwIfAborted();
  const twins = hasScratch(driver) ? new Twins(driver) : null;
  try {
    return await untilAborted(signal, async () => {
      const diagnosis = hasDiagnosis(driver) ? await driver.diagnose() : [NO_DIAGNOSIS];
      const problem = twins === null ? NO_SCRATCH : await twins.tryOne();
      signal.throwIfAborted();
      const findings = problem === null ? diagnosis : [...diagnosis, problem];
      onFindings?.(findings);
      const results = twins === null || problem !== null ? null : await tryCases({ driver, twins, findings }, options);
      return { findings, results, isWell: isWell(findings, results ?? []) };
    });
  } finally {
    await twins?.close();
  }
}

const NO_SCRATCH: Finding = {
  level: 'warning',
  code: 'scratch',
  message: 'The driver makes no scratch twin of itself, so nothing was tried out',
  advice: 'Run the suite from a test of the driver: docs/writing-a-driver.md',
};

const NO_DIAGNOSIS: Finding = {
  level: 'warning',
  code: 'diagnosis',
  message: 'The driver does not tell what its server is like',
  advice: 'See for yourself that it takes writes, keeps them, and that its clock is right',
};

interface Examined {
  readonly driver: QueueDriver;
  readonly twins: Twins;
  readonly findings: readonly Finding[];
}

async function tryCases(
  { driver, twins, findings }: Examined,
  { onCase, signal }: ExamineOptions,
): Promise<CaseResult[]> {
  const disabled = new Set(findings.flatMap(({ disables = [] }) => disables));
  const harness: Harness = {
    abilities: abilitiesOf(driver),
    open: async ({ now }) => {
      const twin = await twins.open({ now });
      return { driver: twin.driver, connect: () => twin.connect(), close: async () => twin[Symbol.asyncDispose]() };
    },
  };
  const results: CaseResult[] = [];
  for (const one of CASES) {
    if (signal?.aborted) break;
    const why = whyNotTried(driver, disabled, one);
    const tried: CaseResult[] =
      why === null
        ? await runConformance(harness, { cases: [one] })
        : [{ case: one, elapsedMs: 0, outcome: 'skipped', why }];
    for (const result of tried) onCase?.(result);
    results.push(...tried);
  }
  return results;
}

async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const working = work();
  working.catch(() => {}); // when it is aborted nobody waits for it any more
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([working, aborted]);
}

function isWell(findings: readonly Finding[], results: readonly CaseResult[]): boolean {
  return findings.every(({ level }) => level !== 'error') && results.every(({ outcome }) => outcome !== 'failed');
}
