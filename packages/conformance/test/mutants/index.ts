import { badArguments } from './arguments.js';
import { batches } from './batches.js';
import { brokenRows } from './broken-rows.js';
import { claiming } from './claiming.js';
import { failedJobs } from './failed-jobs.js';
import { fences } from './fences.js';
import { finishing } from './finishing.js';
import { inspection } from './inspection.js';
import { keys } from './keys.js';
import { leases } from './leases.js';
import { limits } from './limits.js';
import type { Mutant } from './mutant.js';
import { otherAbilities } from './other-abilities.js';
import { payloads } from './payloads.js';
import { pending } from './pending.js';
import { plainMistakes } from './plain-mistakes.js';
import { pushMany } from './push-many.js';
import { pushing } from './pushing.js';
import { reports } from './reports.js';
import { reserveOrder } from './reserve-order.js';
import { times } from './times.js';
import { transactionRaces } from './transaction-races.js';
import { transactions } from './transactions.js';
import { turnover } from './turnover.js';
import { wakeups } from './wakeups.js';

/** Every broken driver, with the case that has to find it. */
export const MUTANTS: readonly Mutant[] = [
  ...plainMistakes,
  ...pushing,
  ...limits,
  ...payloads,
  ...keys,
  ...reserveOrder,
  ...claiming,
  ...times,
  ...fences,
  ...finishing,
  ...pending,
  ...brokenRows,
  ...badArguments,
  ...reports,
  ...failedJobs,
  ...pushMany,
  ...batches,
  ...turnover,
  ...leases,
  ...transactions,
  ...transactionRaces,
  ...wakeups,
  ...inspection,
  ...otherAbilities,
];
