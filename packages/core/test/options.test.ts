import { describe, expect, it, vi } from 'vitest';
import { type DriverOptions, settleOptions } from '../src/driver-kit/index.js';
import type { QueueWarning } from '../src/index.js';
import { refusal } from './fixtures.js';

const settled = (options: Partial<Record<keyof DriverOptions, unknown>> = {}) =>
  settleOptions(options as DriverOptions, 'ADriver');

describe('the options of a driver', () => {
  it('have defaults', () => {
    const { now, maxPayloadBytes, callTimeout } = settled();
    expect(maxPayloadBytes).toBe(65_535);
    expect(callTimeout).toBe(30);
    expect(Math.abs(now().getTime() - Date.now())).toBeLessThan(1_000);
  });

  it('are taken as they are', () => {
    const now = () => new Date(0);
    expect(settled({ now, maxPayloadBytes: 100, callTimeout: 5 })).toMatchObject({
      now,
      maxPayloadBytes: 100,
      callTimeout: 5,
    });
  });

  it('are raised to their floors', () => {
    expect(settled({ maxPayloadBytes: 0, callTimeout: 0 })).toMatchObject({ maxPayloadBytes: 2, callTimeout: 1 });
  });

  it.each<[keyof DriverOptions, unknown, string, string]>([
    ['now', new Date(0), 'invalid_option', 'now has to be a function; got an object'],
    ['now', null, 'invalid_option', 'now has to be a function; got null'],
    ['onWarning', 'console', 'invalid_option', 'onWarning has to be a function; got a string'],
    ['maxPayloadBytes', '100', 'invalid_number', 'maxPayloadBytes has to be a whole number; got a string'],
    [
      'maxPayloadBytes',
      Number.POSITIVE_INFINITY,
      'invalid_number',
      'maxPayloadBytes has to be a whole number; got Infinity',
    ],
    ['callTimeout', 0.5, 'invalid_number', 'callTimeout has to be a whole number; got 0.5'],
  ])('are refused where %s is not what it has to be: %s', (option, value, code, message) => {
    expect(refusal(() => settled({ [option]: value }))).toEqual({ code, message });
  });
});

describe('a warning', () => {
  const aWarning = (warning: Partial<QueueWarning> = {}): QueueWarning => ({
    code: 'polling',
    message: 'It polls',
    ...warning,
  });

  it('whose listener throws does not break the call it came from', () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { warn } = settled({
      onWarning: () => {
        throw new Error('a full log');
      },
    });
    warn(aWarning());
    expect(emitWarning.mock.calls).toEqual([['onWarning failed (a full log) on: It polls', { code: 'polling' }]]);
    emitWarning.mockRestore();
  });

  it('is said once', () => {
    const said: QueueWarning[] = [];
    const { warn } = settled({ onWarning: (warning: QueueWarning) => said.push(warning) });
    const other = aWarning({ message: 'It polls the other' });
    for (const warning of [aWarning(), aWarning(), other, aWarning()]) warn(warning);
    expect(said).toEqual([aWarning(), other]);
  });

  it('is said once by each driver', () => {
    const said: QueueWarning[] = [];
    const onWarning = (warning: QueueWarning) => said.push(warning);
    settled({ onWarning }).warn(aWarning());
    settled({ onWarning }).warn(aWarning());
    expect(said).toHaveLength(2);
  });

  it('is one of the process where nobody listens', () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    settled().warn(aWarning());
    expect(emitWarning.mock.calls).toEqual([['It polls', { type: 'ADriver', code: 'polling' }]]);
    emitWarning.mockRestore();
  });
});
