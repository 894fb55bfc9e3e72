import type { Finding } from '../driver.js';

// More than what clocks that are kept in step differ by.
const TOLERANCE_MS = 5_000;

/**
 * For `diagnose`: how far a server's clock is from the driver's. The queue never asks the server's, so a difference does no
 * harm by itself; but of two machines whose clocks differ, one takes the jobs of the other early, and its claims too.
 */
export function clockFinding(now: { readonly before: Date; readonly after: Date }, server: Date): Finding {
  const [before, after] = [now.before.getTime(), now.after.getTime()];
  const ahead = server.getTime() - (before + after) / 2;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (Math.abs(ahead) <= TOLERANCE_MS + (after - before) / 2) {
    return { level: 'ok', code: 'clock', message: 'The clocks of this process and of the server agree' };
  }
  return {
    level: 'warning',
    code: 'clock',
    message: `The server's clock is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of this process`,
    advice:
      'Every time of the queue is of the clock of the process that writes it: keep the clocks of all machines that push or ' +
      'work in step',
  };
}
