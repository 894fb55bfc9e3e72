import { describe, expect, it } from 'vitest';
import { explained, isHarmless, replyCode } from '../src/errors.js';

class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

describe('an error of the server’s', () => {
  it.each([
    ['READONLY You can’t write against a read only replica.', 'READONLY', false],
    ['READONLY You can’t write against a read only replica. script: 901c, on @user_script:1.', 'READONLY', false],
    [
      'ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -READONLY You can’t write',
      'READONLY',
      false,
    ],
    ['ERR Error running script (call to f_1): @user_script:9: -OOM command not allowed', 'OOM', true],
    ['OOM command not allowed when used memory > ’maxmemory’.', 'OOM', true],
    ['LOADING Redis is loading the dataset in memory', 'LOADING', false],
    ['MASTERDOWN Link with MASTER is down', 'MASTERDOWN', false],
    ['CLUSTERDOWN Hash slot not served', 'CLUSTERDOWN', false],
    ['LATE nobody waits for this call any more', 'LATE', true],
    ['ERR value: -OOM is not an integer', 'ERR', true],
    ['WRONGTYPE Operation against a key', 'WRONGTYPE', true],
    ['NOPERM this user has no permissions', 'NOPERM', true],
    ['something else altogether', 'ERR', true],
  ])('is told by its code: %s', (message, code, harmless) => {
    const error = new ReplyError(message);
    expect([replyCode(error), isHarmless(error)]).toStrictEqual([code, harmless]);
  });

  it('is passed on as it is where q has nothing to say about it', () => {
    const error = new ReplyError('WRONGTYPE Operation against a key');
    expect(explained(error)).toBe(error);
  });
});

describe('an error of the client’s', () => {
  it.each([new Error('Connection is closed.'), new Error('READONLY'), 'no error at all', undefined])(
    'leaves the outcome unknown, and the connection is not used again: %s',
    (error) => {
      expect([replyCode(error), isHarmless(error)]).toStrictEqual([null, false]);
      expect(explained(error)).toMatchObject({ code: 'outcome_unknown', cause: error });
    },
  );
});
