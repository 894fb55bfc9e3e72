import type { QueueWarning } from '../driver.js';
import { errorMessage } from '../error-detail.js';
import { QueueError } from '../errors.js';
import { checkInteger, kindOf } from '../limits.js';
import { DEFAULT_MAX_PAYLOAD_BYTES } from '../payload.js';

/** The options every driver takes. */
export interface DriverOptions {
  /** The time of day. Tests move it; the server's clock is never asked. Default: the process's clock. */
  readonly now?: () => Date;
  /** What is not an error but should be known. Default: `process.emitWarning`. */
  readonly onWarning?: (warning: QueueWarning) => void;
  /** UTF-8 bytes of JSON a payload may have, checked at push. Default 65,535, what MySQL's TEXT holds. */
  readonly maxPayloadBytes?: number;
  /** Seconds one call of the driver may take before it is given up. Default 30. */
  readonly callTimeout?: number;
}

export interface SettledDriverOptions {
  readonly now: () => Date;
  readonly warn: (warning: QueueWarning) => void;
  readonly maxPayloadBytes: number;
  readonly callTimeout: number;
}

/** The options with their defaults, checked. `warn` says each thing once. Throws `invalid_option`, `invalid_number`. */
export function settleOptions(options: DriverOptions, driver: string): SettledDriverOptions {
  return {
    now: checkFunction('now', options.now) ?? (() => new Date()),
    warn: once(checkFunction('onWarning', options.onWarning) ?? ((warning) => emitWarning(driver, warning))),
    maxPayloadBytes: checkInteger('maxPayloadBytes', options.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES, 2),
    callTimeout: checkInteger('callTimeout', options.callTimeout ?? 30, 1),
  };
}

function checkFunction<F>(name: string, value: F | undefined): F | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw new QueueError('invalid_option', `${name} has to be a function; got ${kindOf(value)}`);
}

function once(warn: (warning: QueueWarning) => void): (warning: QueueWarning) => void {
  const said = new Set<string>();
  return (warning) => {
    const key = `${warning.code}\n${warning.message}`;
    if (said.has(key)) return;
    said.add(key);
    try {
      warn(warning);
    } catch (error) {
      // Whoever cannot take a warning must not break the call it came from.
      process.emitWarning(`onWarning failed (${errorMessage(error)}) on: ${warning.message}`, { code: warning.code });
    }
  };
}

function emitWarning(driver: string, warning: QueueWarning): void {
  process.emitWarning(warning.message, { type: driver, code: warning.code });
}
