import { afterEach, describe, expect, it, vi } from 'vitest';
import { type QueueDriver, Worker, type WorkerChaos } from '../src/index.js';
import { settleChaos, troubleAfter } from '../src/worker/chaos.js';
import { refusal } from './fixtures.js';

const last = { isLastAttempt: () => true };
const first = { isLastAttempt: () => false };

afterEach(() => vi.unstubAllEnvs());

describe('the option chaos', () => {
  it('is none by default, in production too', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(settleChaos(undefined)).toBeNull();
  });

  it('is probabilities, 0 where they are left out', () => {
    expect(settleChaos({})).toEqual({ deliverTwice: 0, dieAfterHandler: 0 });
    expect(settleChaos({ deliverTwice: 1, dieAfterHandler: 0.01 })).toEqual({ deliverTwice: 1, dieAfterHandler: 0.01 });
  });

  it('is refused where NODE_ENV is production, when the worker is made', () => {
    vi.stubEnv('NODE_ENV', 'production');
    // The cast: a worker that is never made asks for nothing more.
    const driver = { reserve: async () => null } as unknown as QueueDriver;
    const queue = { driver, handlers: {}, backoff: () => 1 };
    const message = 'chaos is for staging and tests: leave it out where NODE_ENV is production';
    expect(refusal(() => new Worker({ queue, timeout: 1, chaos: {} }))).toEqual({ code: 'invalid_option', message });
  });

  it.each<[unknown, string, string]>([
    [null, 'invalid_option', 'chaos has to be an object of probabilities; got null'],
    [0.5, 'invalid_option', 'chaos has to be an object of probabilities; got a number'],
    [{ deliverTwice: 1.1 }, 'invalid_number', 'chaos.deliverTwice has to be a probability, from 0 to 1; got 1.1'],
    [{ deliverTwice: -1 }, 'invalid_number', 'chaos.deliverTwice has to be a probability, from 0 to 1; got -1'],
    [
      { dieAfterHandler: Number.NaN },
      'invalid_number',
      'chaos.dieAfterHandler has to be a probability, from 0 to 1; got NaN',
    ],
    [
      { dieAfterHandler: '1' },
      'invalid_number',
      'chaos.dieAfterHandler has to be a probability, from 0 to 1; got a string',
    ],
  ])('is refused where it is %j', (chaos, code, message) => {
    expect(refusal(() => settleChaos(chaos as WorkerChaos))).toEqual({ code, message });
  });
});

describe('chaos', () => {
  it('delivers again only what returned, and only while attempts are left', () => {
    const chaos = { deliverTwice: 1, dieAfterHandler: 0 };
    expect(troubleAfter(chaos, { type: 'done' }, first)).toBe('delivered_again');
    expect(troubleAfter(chaos, { type: 'done' }, last)).toBeNull();
    expect(troubleAfter(chaos, { type: 'completed', error: null }, first)).toBeNull();
    expect(troubleAfter(chaos, { type: 'thrown', error: null }, first)).toBeNull();
    expect(troubleAfter(chaos, { type: 'released', delay: 1 }, first)).toBeNull();
  });

  it('dies after what returned, in a transaction of its own too, and not after what threw', () => {
    const chaos = { deliverTwice: 0, dieAfterHandler: 1 };
    expect(troubleAfter(chaos, { type: 'done' }, last)).toBe('dies');
    expect(troubleAfter(chaos, { type: 'completed', error: null }, first)).toBe('dies');
    expect(troubleAfter(chaos, { type: 'thrown', error: null }, first)).toBeNull();
  });

  it('does nothing at probabilities of 0', () => {
    expect(troubleAfter({ deliverTwice: 0, dieAfterHandler: 0 }, { type: 'done' }, first)).toBeNull();
    expect(troubleAfter(null, { type: 'done' }, first)).toBeNull();
  });
});
