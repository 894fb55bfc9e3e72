import { equal } from 'node:assert/strict';
import type { NewJob } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { nothingStored, refused } from '../expectations.js';
import { aJob, reserveOne, rowOf, textOf } from '../fixtures.js';

interface Role {
  readonly id: 'queue' | 'name' | 'unique';
  readonly who: string;
  readonly limit: number;
}

const ROLES: readonly Role[] = [
  { id: 'queue', who: 'A queue name', limit: 64 },
  { id: 'name', who: 'A job name', limit: 190 },
  { id: 'unique', who: 'A unique key', limit: 190 },
];

interface Fault {
  readonly id: string;
  /** Follows "A queue name". */
  readonly what: string;
  texts(limit: number): readonly string[];
}

const FAULTS: readonly Fault[] = [
  { id: 'too-long', what: 'over its limit', texts: (limit) => [textOf(limit + 1), textOf(limit + 1, '😀')] },
  {
    id: 'control-character',
    what: 'with a control character',
    texts: () => ['a\0b', 'a\nb', 'a\tb', 'a\u007fb', 'a\u0085b'],
  },
  { id: 'lone-surrogate', what: 'with half a surrogate pair', texts: () => ['\ud800', 'a\ud83d', '\udc00x'] },
  { id: 'outer-space', what: 'with white space at an end', texts: () => [' a', 'a ', '\u00a0a', 'a\u3000'] },
];

/** Queue names that no job can have. */
const IMPOSSIBLE: readonly string[] = [textOf(65), 'a\0', ' a', ''];

export const limitsAndText: readonly ConformanceCase[] = [
  ...ROLES.flatMap((role) => FAULTS.map((fault) => isRefused(role, fault))),
  ...ROLES.filter(({ id }) => id !== 'unique').map((role) =>
    isRefused(role, { id: 'empty', what: 'without a character', texts: () => [''] }),
  ),
  ...ROLES.map(longest),
  aCase({
    id: 'limits/worker-cut',
    name: 'A worker id is cut to 64 characters, counted in code points',
    rule: 'worker-cut',
    needs: ['jobRows'],
    run: async ({ driver, jobRows }) => {
      const id = await driver.push(aJob());
      await driver.reserve(['default'], 60, `${textOf(63)}😀${textOf(100)}`);
      equal(rowOf(await jobRows(), id).reservedBy, `${textOf(63)}😀`, 'reserved_by');
    },
  }),
  aCase({
    id: 'limits/queues-byte-for-byte',
    name: 'A worker of one queue gets nothing from a queue whose name differs in case, accent or composition',
    rule: 'byte-for-byte',
    run: async ({ driver }) => {
      const queues = ['mail', 'Mail', 'màil', 'ma\u0300il', 'mail\u200b', '😀', '😁'];
      for (const queue of queues) await driver.push(aJob({ queue }));
      for (const queue of queues) {
        equal(await driver.pending(queue), 1, `pending in "${queue}"`);
        equal((await reserveOne(driver, { queue })).queue, queue, 'the queue reserved from');
        equal(await driver.reserve([queue], 60, 'w'), null, `a second reserve from "${queue}"`);
      }
    },
  }),
  aCase({
    id: 'limits/reserve-checks-queues',
    name: 'Reserve and pending refuse a queue name outside the limits',
    rule: 'text-limits',
    run: async ({ driver }) => {
      for (const queue of IMPOSSIBLE) {
        await refused(() => driver.reserve(['default', queue], 60, 'w'), 'invalid_text', 'reserve from such a queue');
        await refused(() => driver.pending(queue), 'invalid_text', 'pending of such a queue');
      }
    },
  }),
  aCase({
    id: 'limits/batch-checks-queues',
    name: 'ReserveMany refuses a queue name outside the limits, and claims nothing',
    rule: 'text-limits',
    needs: ['batches'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const queue of IMPOSSIBLE) {
        const call = () => driver.reserveMany(['default', queue], 2, 60, 'w');
        await refused(call, 'invalid_text', 'reserveMany from such a queue');
      }
      equal(await driver.pending(), 1, 'pending');
    },
  }),
];

function isRefused(role: Role, fault: Fault): ConformanceCase {
  return aCase({
    id: `limits/${role.id}-${fault.id}`,
    name: `${role.who} ${fault.what} is refused, and nothing is stored`,
    rule: 'text-limits',
    run: async ({ driver }) => {
      for (const text of fault.texts(role.limit)) {
        const what = `pushing ${role.id} ${JSON.stringify(text)}`;
        await refused(() => driver.push(withText(role, text)), 'invalid_text', what);
        await nothingStored(driver, what);
      }
    },
  });
}

function longest(role: Role): ConformanceCase {
  return aCase({
    id: `limits/${role.id}-longest`,
    name: `${role.who} of ${role.limit} characters is taken, however many bytes they have`,
    rule: 'text-limits',
    needs: ['jobRows'],
    run: async ({ driver, jobRows }) => {
      for (const character of ['x', 'é', '😀']) {
        const text = textOf(role.limit, character);
        const id = await driver.push(withText(role, text));
        equal(rowOf(await jobRows(), id)[role.id], text, `the ${role.id} stored`);
      }
    },
  });
}

function withText(role: Role, text: string): NewJob {
  return aJob({ [role.id]: text });
}
