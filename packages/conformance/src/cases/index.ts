import type { ConformanceCase } from '../case.js';
import { abilities } from './abilities.js';
import { claims } from './claims.js';
import { deleteMany } from './delete-many.js';
import { diagnosis } from './diagnosis.js';
import { errorText } from './error-text.js';
import { failedRows } from './failed-rows.js';
import { fences } from './fences.js';
import { finish } from './finish.js';
import { forgetFailed } from './forget-failed.js';
import { inspection } from './inspection.js';
import { leases } from './leases.js';
import { limitsAndText } from './limits-and-text.js';
import { numbers } from './numbers.js';
import { payloads } from './payloads.js';
import { pending } from './pending.js';
import { plainValues } from './plain-values.js';
import { push } from './push.js';
import { pushMany } from './push-many.js';
import { races } from './races.js';
import { rawRows } from './raw-rows.js';
import { refusedPayloads } from './refused-payloads.js';
import { release } from './release.js';
import { reserveMany } from './reserve-many.js';
import { reserveOrder } from './reserve-order.js';
import { retryFailed } from './retry-failed.js';
import { schemaAndScratch } from './schema-and-scratch.js';
import { stats } from './stats.js';
import { syncPush } from './sync-push.js';
import { times } from './times.js';
import { transactionRaces } from './transaction-races.js';
import { transactions } from './transactions.js';
import { turnover } from './turnover.js';
import { undecodable } from './undecodable.js';
import { unique } from './unique.js';
import { wakeups } from './wakeups.js';

/** Every case, in the order a job's life is told: what a driver is, pushing, claiming, finishing, and the abilities. */
export const CASES: readonly ConformanceCase[] = [
  ...abilities,
  ...push,
  ...limitsAndText,
  ...plainValues,
  ...numbers,
  ...payloads,
  ...refusedPayloads,
  ...unique,
  ...reserveOrder,
  ...claims,
  ...times,
  ...fences,
  ...release,
  ...finish,
  ...errorText,
  ...pending,
  ...races,
  ...undecodable,
  ...rawRows,
  ...stats,
  ...failedRows,
  ...retryFailed,
  ...forgetFailed,
  ...pushMany,
  ...reserveMany,
  ...deleteMany,
  ...turnover,
  ...leases,
  ...transactions,
  ...transactionRaces,
  ...syncPush,
  ...wakeups,
  ...inspection,
  ...schemaAndScratch,
  ...diagnosis,
];
