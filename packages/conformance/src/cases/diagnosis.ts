import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob } from '../fixtures.js';

const LEVELS: readonly string[] = ['ok', 'warning', 'error'];

export const diagnosis: readonly ConformanceCase[] = [
  aCase({
    id: 'diagnosis/findings',
    name: 'A diagnosis has findings, each a sentence without its full stop, and says what to do about what is not right',
    rule: 'diagnosis',
    needs: ['diagnosis'],
    run: async ({ driver }) => {
      const findings = await driver.diagnose();
      ok(findings.length > 0, 'there has to be a finding: what was looked at, and is as it should be, is one too');
      for (const { level, code, message, advice } of findings) {
        ok(LEVELS.includes(level), `the level of ${code} has to be ok, warning or error; it is ${level}`);
        match(code, /^[a-z]+(_[a-z0-9]+)*$/, 'a code');
        ok(level === 'ok' || advice !== undefined, `what to do about ${code} has to be told: ${message}`);
        for (const text of [message, ...(advice === undefined ? [] : [advice])]) {
          match(text, /^\S.*\S$/s, `a text of ${code}`);
          doesNotMatch(text, /\.$/, `a text of ${code}`);
        }
      }
    },
  }),
  aCase({
    id: 'diagnosis/changes-nothing',
    name: 'A diagnosis changes nothing on the jobs that are stored, and stores none',
    rule: 'diagnosis',
    needs: ['diagnosis', 'jobRows'],
    run: async ({ driver, jobRows }) => {
      await driver.push(aJob());
      const before = await jobRows();
      await driver.diagnose();
      deepEqual(await jobRows(), before, 'the jobs stored');
      equal(await driver.pending(), 1, 'pending');
    },
  }),
];
